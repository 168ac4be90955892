"""Pure functions on arrays that bound what a release reveals. All information is in nats."""

from pacsklearn._public import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
