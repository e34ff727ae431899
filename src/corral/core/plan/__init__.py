"""Plans: a convoy and its tasks in one text, from a file or from an engine. All of it is pure.

`read` parses a text, `check` finds problems, `edges` and `order` compute dependencies and waves,
`draw` shows the graph, `apply` turns a plan into events, `prompt` asks an engine for one.
"""
