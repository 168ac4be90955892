"""Names of scikit-learn's checks, for test ids."""

from __future__ import annotations

from functools import partial
from typing import Any

__all__ = ["check_name"]


def check_name(check: Any) -> str:
    """Name of a check and of what it was bound to."""
    if isinstance(check, partial):
        given = [repr(value) for value in check.keywords.values()]
        return "-".join([check_name(check.func), *given])
    return check.__name__
