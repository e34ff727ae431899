"""Engines: the coding agents that Corral runs, and the ways to talk to them."""
