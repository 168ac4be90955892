"""Kinds of plugins, the hook specification and the registry."""
