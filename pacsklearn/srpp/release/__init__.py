"""Pufferfish releases: a secret about the data, and the worlds it stands for."""
