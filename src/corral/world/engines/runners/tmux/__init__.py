"""The runner for interactive programs, in a tmux of their own: `python -m …engines.tmux`.

`server.py` is the tmux server of one session (start, send, capture, end), `proof.py` how it is
known that a program has a text, `runner.py` the life of a session.
"""
