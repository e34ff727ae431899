"""The log on disk: one port, its back ends, and what is derived from them."""
