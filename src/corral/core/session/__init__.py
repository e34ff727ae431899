"""Sessions: when one may start, what its prompt says, and what its end means."""
