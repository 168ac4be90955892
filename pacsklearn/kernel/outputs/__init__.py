"""Fit every candidate and say nothing; canonical form and metric."""
