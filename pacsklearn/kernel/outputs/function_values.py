"""What a user's function returns for every candidate, checked, with errors that quote nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np

from pacsklearn._validation import warn_user
from pacsklearn.exceptions import FunctionError, NonDeterministicError, PrivacyLeakWarning
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.noise_law import Support
from pacsklearn.kernel.outputs.outputs import equal_but_for_rounding
from pacsklearn.kernel.outputs.run import Failure, Run, attempt

_WRAPPED, _MOST_WRAPPED = ("__wrapped__", "func", "__func__"), 32


@final
class FunctionValues(NamedTuple):
    """Values on all candidates; secret material.

    Attributes
    ----------
    vectors : ndarray of shape (m, d)
    shape : tuple of int
        Of one value; ``()`` for a number.
    supported : callable
        What noise is calibrated to, from the vectors and a belief.
    """

    vectors: Floats
    shape: tuple[int, ...]
    supported: Callable[[Floats, Floats], Any] = Support

    def restore(self, vector: Floats) -> Any:
        """Return the vector of length d in the shape of the function's values."""
        return float(vector[0]) if self.shape == () else vector.reshape(self.shape)


@final
class FunctionRun(Run):
    """A user's function, called with every candidate."""

    others = "candidates"
    quoted = "the candidates"
    where = "the candidate; call the function yourself to see it"

    def place(self, index: int) -> str:
        return f"candidate {index}"

    def counted(self, count: int, total: int) -> str:
        return f"for {count} of {total} candidates"

    def error(self, failure: Failure, index: int) -> FunctionError:
        return FunctionError(
            f"{self.name} failed on {self.place(index)}, or returned no finite real numbers: "
            f"{failure.error} ({self.hint(failure, index)}). It must return a real number or an "
            "array of them for every candidate; of complex ones, their two parts."
        )


def function_values(
    function: Callable[..., Any], inputs: Callable[[int], tuple[Any, ...]], n_candidates: int
) -> FunctionValues:
    """Evaluate ``function(*inputs(index))`` for every candidate.

    Raises
    ------
    FunctionError
        When it fails, or returns anything but finite numbers of one shape.
    NonDeterministicError
        When the first candidate, evaluated once more at the end, gives another value.
    """
    name = function_name(function)
    warn_of_cache(function)
    run = FunctionRun(name)
    outcomes = [
        attempt(partial(function_value, function, inputs(index)), fits=True)
        # The first again at the end: what a function keeps between calls shows by then.
        for index in [*range(n_candidates), 0]
    ]
    values = [run.value(outcome, index) for index, outcome in enumerate(outcomes)]
    shapes = [value.shape for value in values]
    for index, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise FunctionError(
                f"{name} returns shape {shape} for candidate {index} and {shapes[0]} for candidate "
                "0. The shape cannot be noised, so it must be the same for every candidate."
            )
    vectors = np.stack([value.reshape(-1) for value in values])
    if not equal_but_for_rounding(vectors[0], vectors[-1]):
        raise NonDeterministicError(
            f"Two calls of {name} on the same candidate differ, so noise calibrated on the "
            "candidates would not cover its own randomness. Fix its seed inside, and let it keep "
            "no state between calls."
        )
    run.warn(outcomes, n_candidates)
    return FunctionValues(vectors[:-1], shapes[0])


def warn_of_cache(function: Callable[..., Any]) -> None:
    """Warn of a function that remembers its calls: candidates, and the secret, outlive them."""
    part: Any = function
    for _ in range(_MOST_WRAPPED):
        if hasattr(part, "cache_info") or hasattr(part, "store_backend"):
            warn_user(
                f"{function_name(function)} is cached (functools.lru_cache, functools.cache or "
                "joblib.Memory): what it returned for every candidate stays in memory or on disk, "
                "a cache hit takes less time than a call, and a second call is no check that it is "
                "deterministic. Release the function itself, without its cache.",
                PrivacyLeakWarning,
            )
            return
        inner = [getattr(part, name) for name in _WRAPPED if hasattr(part, name)]
        if not inner:
            return
        part = inner[0]


def function_value(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Floats:
    """Return one value as an array of finite floats."""
    # Real, finite, and exact as doubles: what noise is calibrated to is what is released.
    returned = function(*arguments)
    value = np.asarray(returned)  # which shows what is behind a mask
    if value.dtype.kind not in "biuf" or value.size == 0 or np.ma.is_masked(returned):
        raise TypeError("no real numbers")
    if value.dtype.kind in "iu" and np.any((value > 2**53) | (value < -(2**53))):
        raise OverflowError("integers that a double cannot hold")
    value = value.astype(np.float64)
    if not np.all(np.isfinite(value)):
        raise ArithmeticError("not finite")
    return value


def function_name(function: Callable[..., Any]) -> str:
    """Return the name of a function, for messages."""
    return getattr(function, "__name__", type(function).__name__)
