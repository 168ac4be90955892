"""What was promised: its numbers and its words."""
