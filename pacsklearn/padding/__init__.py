"""Noise that only ever adds: one whole number is padded to public levels."""
