"""Further attacks."""
