"""Rows that several tables share, each of them once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats


def distinct_rows(tables: Iterable[Floats]) -> tuple[Floats, list[NDArray[np.intp]]]:
    """Return the rows that differ in some bit, and where each table's rows stand among them."""
    places: dict[bytes, int] = {}
    held = [
        np.array([places.setdefault(row.tobytes(), len(places)) for row in table], dtype=np.intp)
        for table in tables
    ]
    return np.frombuffer(b"".join(places)).reshape(len(places), -1), held
