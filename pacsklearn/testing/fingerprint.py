"""Content of an estimator, attribute by attribute."""

from __future__ import annotations

from typing import Any

import joblib


def fingerprint(value: Any) -> str:
    """Return the hash of the content.

    Equal content has equal hashes, whatever the identity of its parts.
    """
    try:
        return str(joblib.hash(value))
    except Exception:  # noqa: BLE001 - what cannot be pickled (a lambda) is compared by identity
        return f"{type(value).__qualname__} at {id(value)}"


def differing_attributes(left: Any, right: Any) -> list[str]:
    """Return names of the attributes in which two objects differ; ``[]`` when they are alike."""
    if type(left) is not type(right):
        return ["its class"]
    mine, theirs = getattr(left, "__dict__", {}), getattr(right, "__dict__", {})
    names = [
        name
        for name in sorted(mine.keys() | theirs.keys())
        if name not in mine
        or name not in theirs
        or fingerprint(mine[name]) != fingerprint(theirs[name])
    ]
    if not names and not mine and fingerprint(left) != fingerprint(right):
        return ["its content"]
    return names
