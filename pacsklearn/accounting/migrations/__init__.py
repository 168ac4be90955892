"""Schema of the databases, version by version."""
