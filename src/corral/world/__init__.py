"""The outside world: one module for each thing that Corral touches."""
