"""Attacks beside the optimal one, and audits that need them."""

from pacsklearn._public import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
