"""What an object refers to: where tests look for secrets."""

from __future__ import annotations

import gc
import types
from collections.abc import Iterator
from typing import Any

__all__ = ["reachable"]


def reachable(root: Any) -> Iterator[Any]:
    """Everything an object refers to, but for code, types and modules."""
    seen: set[int] = set()
    pending = [root]
    while pending:
        item = pending.pop()
        if id(item) in seen or isinstance(item, type | types.ModuleType | types.FunctionType):
            continue
        seen.add(id(item))
        yield item
        pending += gc.get_referents(item)
