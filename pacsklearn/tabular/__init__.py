"""Models of tables: codebooks, additive and stepwise models, fixed forests, choosing, students."""

from pacsklearn._public import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
