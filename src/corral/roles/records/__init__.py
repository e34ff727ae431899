"""What sessions left behind: their rooms, output, facts and diffs, read by every interface."""
