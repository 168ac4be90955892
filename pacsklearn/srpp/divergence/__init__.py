"""Renyi divergences and transport distances between the outputs of two secrets."""
