"""Attacks, and the games they play: what leaks, measured."""
