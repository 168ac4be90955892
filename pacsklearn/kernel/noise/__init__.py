"""One noise backend a file."""
