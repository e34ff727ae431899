"""The command line. Agents call it all the time: what a command does not need is not imported."""
