"""Noise laws for the secrets of a data set."""
