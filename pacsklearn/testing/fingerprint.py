"""Content of an estimator, attribute by attribute."""

from __future__ import annotations

from collections.abc import Mapping
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
    mine, theirs = fingerprints(left), fingerprints(right)
    if not mine and not theirs and fingerprint(left) != fingerprint(right):
        return ["its content"]
    return differing_names(mine, theirs)


def fingerprints(value: Any) -> dict[str, str]:
    """Return the fingerprint of each attribute."""
    return {name: fingerprint(own) for name, own in getattr(value, "__dict__", {}).items()}


def differing_names(mine: Mapping[str, str], theirs: Mapping[str, str]) -> list[str]:
    """Return names that have other fingerprints, or none in one of both."""
    return sorted(
        name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name)
    )
