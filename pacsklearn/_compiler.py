"""Whether loops over arrays are compiled: where numba is installed, and rounds as C does."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any


@cache
def compiler() -> Any:
    """Return Numba's decorator; None where loops run by their references."""
    try:
        from numba import config, njit
    except ModuleNotFoundError as missing:
        if missing.name == "numba":
            return None
        reason = str(missing)
    except ImportError as error:  # made for another numpy
        reason = str(error)
    else:
        if not getattr(config, "USING_SVML", False):
            return njit
        # Intel's exponentials differ from the C library's in the last bit.
        reason = "it uses Intel's short vector mathematics; set NUMBA_DISABLE_INTEL_SVML=1"
    message = f"numba is installed and not used, loops run uncompiled: {reason}"
    warnings.warn(message, RuntimeWarning, stacklevel=2)
    return None
