"""Rows that a release begins with: checked for an estimator, and dealt into candidates."""
