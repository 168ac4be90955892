"""How far a bound is moved outward to stay one in floating point."""

from __future__ import annotations

from typing import Final

OUTWARD: Final = 1.0 + 1e-12
"""Factor that covers the rounding of a few operations, or of sums of up to 1e9 non-negative terms
each good to a few units: what is charged is never below what was proved."""
