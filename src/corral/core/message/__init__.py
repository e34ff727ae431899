"""Messages between agents, roles and people."""
