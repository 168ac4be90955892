"""What the coordinator does: the one process that holds the secrets."""
