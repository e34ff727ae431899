"""How long tests wait for what must happen: only one that fails ever waits so long."""

PATIENCE_S = 240.0
