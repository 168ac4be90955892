"""Students that learn from private answers."""
