"""JSON that strangers send."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from pacsklearn_service.server.problem import Problem


def json_object(body: bytes) -> dict[str, Any]:
    """Object that a body holds.

    Raises
    ------
    Problem
        Without a word of the body.
    """
    try:
        document = json.loads(body, parse_constant=_refused, parse_float=_finite, parse_int=_int)
    except (ValueError, RecursionError):
        raise Problem(
            "bad-request", "The body must be JSON in UTF-8, without NaN or infinite numbers."
        ) from None
    if not isinstance(document, dict):
        raise Problem("bad-request", "The body must be a JSON object.")
    return document


def _refused(_: str) -> NoReturn:
    raise ValueError


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError
    return number


def _int(text: str) -> int:
    # No number that a model reads has so many digits; converting them takes quadratic time.
    if len(text) > 400:
        raise ValueError
    return int(text)
