"""Sessions: when one may start, what it is told, and what its end means."""
