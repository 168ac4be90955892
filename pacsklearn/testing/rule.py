"""How a check says which rule was broken."""

from __future__ import annotations


def broken(rule: str, finding: str, remedy: str) -> AssertionError:
    """Error that names the rule, what was found and what to do."""
    return AssertionError(f"Rule broken: {rule}. {finding} What to do: {remedy}")


def require(condition: object, rule: str, finding: str, remedy: str) -> None:
    """Raise :func:`broken` unless ``condition`` holds."""
    if not condition:
        raise broken(rule, finding, remedy)
