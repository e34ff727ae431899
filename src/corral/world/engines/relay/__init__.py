"""The relay: passes an engine's requests to its model and reads usage and limits on the way."""
