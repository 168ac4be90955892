"""How functions on arrays are compiled; importing this module imports numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile without the interpreter lock; cached on disk where a folder can be written.

    Numba's cache notices changes of the file that holds the function only: it stays what it was
    when a function changes that it calls in another file.
    """

    def compile_function(function: Callable[..., Any]) -> Any:
        try:
            return njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:  # no folder for the cache
            return njit(nogil=True, **options)(function)

    return compile_function
