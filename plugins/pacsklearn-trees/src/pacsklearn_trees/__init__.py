"""Predictors of boosting and forests, and boosters whose leaves can be released."""

from pacsklearn._public import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
