"""The roles: they carry out what the core decided and record what happened."""
