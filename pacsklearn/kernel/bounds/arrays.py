"""Kinds of arrays that signatures name, and how large a table may be."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Entries of a table that are held at once: small enough for the cache to help.
MOST_CELLS: Final = 2**22
