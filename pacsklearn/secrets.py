"""Secrets: which rows were used, which input was, or a subset drawn from all."""

from pacsklearn._public import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
