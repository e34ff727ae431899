"""The runner for interactive programs, each in its own tmux: `python -m …runners.tmux`.

`server.py` is the tmux server of one session (start, send, capture, end), `proof.py` decides
whether a program has received a text, `runner.py` is the life of a session.
"""
