"""The server: every command and view over HTTP, events as they happen, tools for agents."""
