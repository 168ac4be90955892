"""Released models as signed files without code: bundles, their cards, ONNX."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what _HOMES imports
    from pacsklearn_publish.bundle import Bundle, load_bundle
    from pacsklearn_publish.publishing import publish
    from pacsklearn_publish.signature import make_key

__all__ = ["Bundle", "load_bundle", "make_key", "publish"]

_HOMES = {
    "Bundle": "bundle",
    "load_bundle": "bundle",
    "make_key": "signature",
    "publish": "publishing",
}


def __getattr__(name: str) -> object:
    # When it is first asked for: a command line that only lists its commands imports nothing.
    if name not in _HOMES:
        raise AttributeError(f"module 'pacsklearn_publish' has no attribute {name!r}")
    return getattr(import_module(f"pacsklearn_publish.{_HOMES[name]}"), name)
