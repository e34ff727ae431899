"""The merge queue as the log has it. `planner` decides what to check and land next."""
