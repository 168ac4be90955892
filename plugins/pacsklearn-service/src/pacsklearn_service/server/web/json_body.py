"""JSON that strangers send."""

from __future__ import annotations

from typing import Any

from pydantic_core import from_json

from pacsklearn_service.server.problem import Problem


def json_object(body: bytes) -> dict[str, Any]:
    """Object that a body holds; numbers beyond doubles are infinite, which no column may hold.

    Raises
    ------
    Problem
        Without a word of the body.
    """
    try:
        document = from_json(body, allow_inf_nan=False)
    except ValueError:
        raise Problem("bad-request", "The body must be JSON in UTF-8, without NaN.") from None
    if not isinstance(document, dict):
        raise Problem("bad-request", "The body must be a JSON object.")
    return document
