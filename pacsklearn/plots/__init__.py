"""Displays: what a release, an audit or a budget looks like, as pictures and pages."""

from pacsklearn._public import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
