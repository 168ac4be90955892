"""Tables larger than memory, and the candidate subsets of their rows."""

from pacsklearn._public import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
