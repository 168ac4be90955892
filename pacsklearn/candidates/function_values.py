"""What a user's function returns for every candidate, checked, with errors that quote nothing."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np

from pacsklearn.candidates.canonical_form import equal_but_for_rounding
from pacsklearn.candidates.subset_fitting import Outcome, Stage, attempt
from pacsklearn.exceptions import FunctionError, NonDeterministicError
from pacsklearn.information.arrays import Floats

__all__ = ["FunctionValues", "function_name", "function_value", "function_values"]


@final
class FunctionValues(NamedTuple):
    """Values on all candidates; secret material.

    Attributes
    ----------
    vectors : ndarray of shape (m, d)
    shape : tuple of int
        Of one value; ``()`` for a number.
    """

    vectors: Floats
    shape: tuple[int, ...]

    def restore(self, vector: Floats) -> Any:
        """Vector of length d in the shape of the function's values."""
        return float(vector[0]) if self.shape == () else vector.reshape(self.shape)


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
    kinds: Counter[type[Warning]] = Counter()
    values = []
    for index in [*range(n_candidates), 0]:
        outcome = attempt(partial(_evaluate, function, inputs(index)))
        kinds.update(outcome.warnings)
        values.append(_unwrap(outcome, index, name))
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
    for kind, count in kinds.items():
        warnings.warn(
            f"{name}: {kind.__name__} for {min(count, n_candidates)} of {n_candidates} candidates "
            "(the messages are withheld because they may quote the candidates).",
            kind,
            stacklevel=4,
        )
    return FunctionValues(vectors[:-1], shapes[0])


def function_value(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Floats:
    """One value as an array of finite floats."""
    value = np.asarray(function(*arguments))
    if value.dtype.kind not in "biuf" or value.size == 0:
        raise TypeError("no numbers")
    if value.dtype.kind in "iu" and np.any((value > 2**53) | (value < -(2**53))):
        raise OverflowError("integers that a double cannot hold")
    value = value.astype(np.float64)
    if not np.all(np.isfinite(value)):
        raise ArithmeticError("not finite")
    return value


def _evaluate(function: Callable[..., Any], arguments: tuple[Any, ...], _: Stage) -> Floats:
    return function_value(function, arguments)


def function_name(function: Callable[..., Any]) -> str:
    """Name of a function, for messages."""
    return getattr(function, "__name__", type(function).__name__)


def _unwrap(outcome: Outcome, index: int, name: str) -> Any:
    if outcome.failure is not None:
        raise FunctionError(
            f"{name} failed on candidate {index}, or returned no finite numbers: "
            f"{outcome.failure.error} (its message is withheld because it may quote the "
            "candidate; call the function yourself to see it). It must return a number or an "
            "array of numbers for every candidate."
        )
    return outcome.value
