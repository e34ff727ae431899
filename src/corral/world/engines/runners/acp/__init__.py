"""The runner for agents that speak the Agent Client Protocol: `python -m …runners.acp`.

`runner.py` has the life of a session, `client.py` what the agent asks of us, `updates.py` what its
updates mean, `wire.py` the messages, `trouble.py` what its errors mean. The protocol itself is the
official SDK's (`agent-client-protocol`), which only this package imports.
"""
