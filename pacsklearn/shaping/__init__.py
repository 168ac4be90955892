"""Shapes of noise beside the default, as published; the kernel proves the bound."""
