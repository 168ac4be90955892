"""Contract checks for plugin authors: call them in your own test suite."""

from pacsklearn._public import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
