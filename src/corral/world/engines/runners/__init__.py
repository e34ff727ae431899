"""Runners: the program of a session whose agent speaks a protocol or needs a terminal."""
