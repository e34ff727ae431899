"""The rules of Corral, pure: no I/O, no clock, no randomness."""
