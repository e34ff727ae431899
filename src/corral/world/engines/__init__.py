"""The coding agents that Corral can drive, as data: see `recipe`."""
