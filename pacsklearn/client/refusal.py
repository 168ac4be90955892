"""Errors for the problems that a service tells of (RFC 9457)."""

from __future__ import annotations

import json
from typing import Any, Final

from pacsklearn.exceptions import (
    PriceError,
    ServiceBudgetError,
    ServiceError,
    ServiceRequestError,
    ServiceUnavailableError,
)

__all__ = ["is_transient", "problem", "refusal"]

_PREFIX: Final = "urn:pacsklearn:problem:"
_TRANSIENT: Final = ("in-progress", "too-many-requests", "unavailable", "timeout")
_ERRORS: Final[dict[str, type[ServiceError]]] = {
    "budget-exhausted": ServiceBudgetError,
    "quota-exhausted": ServiceBudgetError,
    "price-too-high": PriceError,
    **dict.fromkeys(
        ("bad-request", "invalid", "too-large", "unsupported-media-type", "key-reused"),
        ServiceRequestError,
    ),
    **dict.fromkeys(_TRANSIENT, ServiceUnavailableError),
}


def problem(status: int, body: bytes) -> dict[str, Any]:
    """Problem of a response; one that only a proxy can have written has a kind of its status."""
    try:
        document = json.loads(body)
    except ValueError:
        document = None
    kind = document.get("type") if isinstance(document, dict) else None
    if isinstance(kind, str) and kind.startswith(_PREFIX):
        return {**document, "kind": kind.removeprefix(_PREFIX), "status": status}
    return {
        "kind": "unavailable" if status in (502, 503, 504) else f"http-{status}",
        "status": status,
        "detail": "the address answers, but not as a pacsklearn service does; check the url",
    }


def is_transient(document: dict[str, Any]) -> bool:
    """Whether the same request may succeed later."""
    return document["kind"] in _TRANSIENT


def refusal(document: dict[str, Any]) -> ServiceError:
    """Error of a problem."""
    kind = document["kind"]
    detail = document.get("detail") or document.get("title") or ""
    own = ("type", "title", "status", "detail", "kind")
    facts = {name: value for name, value in document.items() if name not in own}
    return _ERRORS.get(kind, ServiceError)(kind, document["status"], str(detail), facts)
