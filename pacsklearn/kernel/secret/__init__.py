"""What may be secret, and the process that owns it."""
