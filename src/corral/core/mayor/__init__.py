"""Conversations with the mayor, the engine that makes plans."""
