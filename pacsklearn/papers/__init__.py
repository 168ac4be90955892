"""Rules as the papers publish them, for comparison."""
