"""Corral runs many coding agents on one git repository and lands their work on one branch."""

__version__ = "0.1.0"
