"""How a figure of a guarantee is written: rounded up, so that no text promises too much."""

from __future__ import annotations

from collections.abc import Iterable

Rows = Iterable[tuple[str, str]]
"""Names of facts, and what is stated of them in words."""


def percent_up(share: float) -> str:
    """Write a share in per cent, rounded up so that the text never promises too much."""
    # A figure that is shown is a bound too.
    return f"{min(_ceil(share * 100, 2), 100.0):.2f}"


def rounded_up(value: float, decimals: int = 3) -> str:
    """Return the number with so many decimals, rounded up."""
    return f"{_ceil(value, decimals):.{decimals}f}"


def _ceil(value: float, decimals: int) -> float:
    scale = 10**decimals
    # Rounding of the products: 50 % computed as 50.000000000000007 must print as 50.00.
    return float(-(-(value * scale - 1e-10) // 1) / scale) + 0.0  # not -0.0
