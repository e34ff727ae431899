"""The outside: one module for each thing that Corral touches."""
