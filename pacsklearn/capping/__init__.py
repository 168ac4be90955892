"""Noise under a cap on an attack: its shape and scale; the kernel certifies what is used."""
