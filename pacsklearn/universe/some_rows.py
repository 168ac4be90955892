"""A sample of a table's rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def some_rows(n: int, step: int) -> NDArray[np.intp]:
    """Return one row of every ``step``, at places drawn by a public seed.

    Every ``step``-th row would be of one kind where kinds alternate: cases and their controls.
    """
    starts = np.arange(0, n, step)
    return np.minimum(starts + np.random.default_rng(0).integers(step, size=starts.size), n - 1)
