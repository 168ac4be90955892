"""Sliced Renyi Pufferfish privacy: a property of the data as the secret."""

from pacsklearn._public import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
