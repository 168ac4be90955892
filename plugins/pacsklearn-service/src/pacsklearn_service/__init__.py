"""Private answers over HTTP: a client that is an estimator, and the server behind it."""

from pacsklearn._public import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
