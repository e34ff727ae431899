"""The records of sessions: their rooms, output, facts and diffs, read by every interface."""
