"""Sliced Renyi Pufferfish privacy: a property of the data as the secret."""
