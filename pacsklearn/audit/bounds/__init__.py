"""Bounds that audits compare with."""
