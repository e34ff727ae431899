"""The runner for interactive programs, each in its own tmux: `python -m …runners.tmux`.

`server.py` is the tmux server of one session (start, send, capture, end), `claude.py` reads the
record of a program that has one, `runner.py` is the life of a session.
"""
