"""Attacks that replay releases about a secret of the data set."""
