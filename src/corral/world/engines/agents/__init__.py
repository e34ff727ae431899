"""The coding agents, one recipe for each."""
