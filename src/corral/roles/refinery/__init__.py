"""The parts of the refinery: what is stacked, what is checked, what is landed."""
