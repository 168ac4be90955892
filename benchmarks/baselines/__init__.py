"""Rules of the papers that nobody should release under, for comparison."""
