"""Pufferfish scenarios: what a secret is and which data sets it may stand for."""
