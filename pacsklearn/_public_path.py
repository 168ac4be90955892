"""Names that users import things by, which files keep."""

from __future__ import annotations

import sys
from typing import Any


def public_path(thing: Any) -> tuple[str, str]:
    """Return the shortest module that users can import an object from, and its name there.

    Files name things this way: a module that moves inside its package changes none of them.

    Parameters
    ----------
    thing : class or function

    Returns
    -------
    module, name : str
        The module it was defined in where no public one holds it.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> public_path(LinearSVC)
    ('sklearn.svm', 'LinearSVC')
    """
    module = str(getattr(thing, "__module__", None) or "")
    name = str(getattr(thing, "__qualname__", None) or getattr(thing, "__name__", ""))
    parts = module.split(".")
    for i, part in enumerate(parts):
        # Private modules may move: no file names them.
        if part.startswith("_") and part != "__main__":
            break
        shorter = ".".join(parts[: i + 1])
        if _named(sys.modules.get(shorter), name) is thing:
            return shorter, name
    return module, name


def _named(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part, None)
    return module
