"""Plans: a convoy and its tasks in one text, from a file or from an engine.

`read` makes a plan of a text, `check` finds what is wrong with it, `edges` and `order` work out who
waits for whom, `draw` shows it, `apply` turns it into events, `prompt` asks an engine for one.
All of it is pure.
"""
