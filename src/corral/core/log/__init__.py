"""The log: its events, how they are written, and the state that they fold into."""
