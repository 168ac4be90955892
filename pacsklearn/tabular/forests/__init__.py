"""Forests of complete trees whose structure is public."""
