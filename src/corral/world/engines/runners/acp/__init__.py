"""The runner for agents that speak the Agent Client Protocol: `python -m …runners.acp`.

`runner.py` is the life of a session, `client.py` answers the agent's requests, `updates.py` turns
its updates into facts, `wire.py` carries the messages, `trouble.py` classifies errors. The protocol
comes from the official SDK (`agent-client-protocol`), which only this package imports.
"""
