"""Released models as signed files without code: bundles, their cards, ONNX."""

from pacsklearn._public import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
