"""`corral demo`: twelve agents, most of which go wrong, on a temporary sample project.

project      the sample project's files, with a dozen bugs
bugs         each bug, its fix, and what goes wrong on the way
agent        the scripted agent: a program like any engine's, which prints facts
sample_repo  the repository, its configuration and the plan
window       the dashboard beside the demo
account      what happened and how it was absorbed, read from the log
cleanup      ends every process of the demo
command      the command itself

Nothing is imported here: each agent is a process of its own, and starts with this package.
"""
