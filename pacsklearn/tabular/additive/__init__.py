"""Additive models of public bins, made to be released."""
