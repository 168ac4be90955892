"""Private answers of black boxes."""
