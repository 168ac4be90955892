"""Loops over arrays: compiled where numba is installed, by their numpy references elsewhere.

Compiling takes seconds, so a loop runs by its reference until it has read as many numbers as make
compiling worth its time. Which of the two runs changes how long a loop takes and nothing that
leaves it: a loop and its reference add the same numbers in the same order, and take exponentials
and logarithms from the C library, one number at a time. NumPy's own sums and exponentials round in
another way on every kind of processor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, final

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.host import host

Function = Callable[..., Any]


@final
class Loop:
    """A function on arrays, which is compiled once its calls have read enough numbers.

    Compiled without the interpreter lock; cached on disk where a folder can be written. Numba's
    cache notices changes of the file that holds the function only: it stays what it was when a
    function changes that it calls in another file.

    Parameters
    ----------
    text : callable
        The loop, in the part of Python that numba compiles.
    worth : int or None
        Entries of array arguments, over all calls, from which on it is compiled; None for a part
        of other loops, which is compiled with these.
    options : dict
        Of ``numba.njit``.

    Attributes
    ----------
    reference : callable
        What gives the same numbers without numba: the loop itself where nothing else is given.
    """

    def __init__(self, text: Function, worth: int | None, options: dict[str, Any]) -> None:
        self.__doc__, self.__name__ = text.__doc__, text.__name__
        self._text, self.reference, self._options = text, text, options
        self._left = math.inf if worth is None else worth

    def in_numpy(self, reference: Function) -> Function:
        """Decorate the reference, where the loop itself would take too long uncompiled."""
        self.reference = reference
        return reference

    @cached_property
    def running(self) -> Function:
        """The compiled loop; its reference where numba is not used."""
        njit = host().compiler()
        if njit is None:
            return self.reference
        try:
            made: Function = njit(nogil=True, cache=True, **self._options)(self._text)
        except RuntimeError:  # no folder for the cache
            made = njit(nogil=True, **self._options)(self._text)
        return made

    def __call__(self, *arguments: Any) -> Any:
        if self._left > 0:
            self._left -= sum(each.size for each in arguments if isinstance(each, np.ndarray))
        return (self.reference if self._left > 0 else self.running)(*arguments)

    @property
    def _numba_type_(self) -> Any:
        """By which numba knows a function that a compiled one calls."""
        return self.running._numba_type_  # type: ignore[attr-defined]


def compiled(*, worth: int | None = None, **options: Any) -> Callable[[Function], Loop]:
    """Decorate a loop over arrays; see :class:`Loop`, other options are those of ``numba.njit``."""
    return lambda text: Loop(text, worth, options)


def exponentials(numbers: Floats) -> Floats:
    """Return the exponentials by the C library, as in compiled loops.

    NumPy's may differ in the last bit.
    """
    return np.array([math.exp(number) for number in numbers.tolist()])


def summed(numbers: Floats) -> Any:
    """Add up along the last axis, one number after the other as in a loop."""
    # A loop begins with 0.0, and so never ends with -0.0.
    return np.add.accumulate(numbers, axis=-1)[..., -1] + 0.0
