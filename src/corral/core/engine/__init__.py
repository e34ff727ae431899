"""Engines: what their output says, what they cost, and when to step in."""
