"""What is publicly expected of predictions, stated without looking at the targets."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.base import BaseEstimator

from pacsklearn._validation import brief
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.universe.public_prior import SPREADS_IN_A_RANGE, PublicPrior

__all__ = ["Constant", "Expected", "Prior", "Range"]


class Prior(BaseEstimator, ABC):
    """Public expectation of a regressor's predictions; released numbers are drawn toward it.

    As far as their noise asks for: without one, a regressor under much noise is worse than any
    constant. A value as scikit-learn's kernels are, whose constructor only assigns.

    Attributes
    ----------
    mean : float or None
        What was stated of the predictions by itself.
    """

    mean: Any

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float] | None:
        """Ends that answers are clipped to; None where none were stated."""

    def normal(self) -> PublicPrior:
        """Return the normal expectation of the predictions.

        Raises
        ------
        ValueError
            When a number is out of range.
        """
        expected = normal_prior(self.mean, self.bounds)
        if expected is None:
            raise ValueError(
                "mean must be a finite number, chosen without looking at y, got "
                f"{brief(self.mean)}."
            )
        return expected


@final
@dataclass
class Range(Prior):
    """Targets lie in a public range; its middle is what they are drawn toward.

    Parameters
    ----------
    low, high : float

    Examples
    --------
    >>> from pacsklearn.priors import Range
    >>> Range(0, 300)
    Range(low=0, high=300)
    """

    low: float
    high: float

    @property
    def mean(self) -> None:
        """Nothing by itself: the middle is taken."""

    @property
    def bounds(self) -> tuple[float, float]:
        return checked_range((self.low, self.high))


@final
@dataclass
class Expected(Prior):
    """A number that targets are publicly expected to lie around.

    Parameters
    ----------
    mean : float
    within : Range, optional
        Public range of the targets, which private answers need. Without one they are taken to lie
        between zero and twice the mean.

    Examples
    --------
    >>> from pacsklearn.priors import Expected, Range
    >>> Expected(150, Range(0, 300))
    Expected(mean=150, within=Range(low=0, high=300))
    """

    mean: float
    within: Range | None = None

    @property
    def bounds(self) -> tuple[float, float] | None:
        if not (self.within is None or isinstance(self.within, Range)):
            raise ValueError(f"within must be None or Range(low, high), got {brief(self.within)}.")
        return None if self.within is None else self.within.bounds


@final
@dataclass
class Constant(BaseEstimator):
    """Public probabilities of the classes, stated without looking at the targets.

    What a classifier must be better than: :class:`~pacsklearn.AutoPrivateClassifier` releases them
    in its place where no model is expected to be.

    Parameters
    ----------
    proba : mapping of class to float, or array-like of shape (n_classes,)
        Positive; arrays in the order of the sorted classes. They are divided by their sum.

    Examples
    --------
    >>> from pacsklearn.priors import Constant
    >>> Constant({"ill": 0.05, "well": 0.95})
    Constant(proba={'ill': 0.05, 'well': 0.95})
    """

    proba: Any

    def of(self, classes: Any) -> Floats:
        """Return the probabilities of sorted classes; (n_classes,).

        Raises
        ------
        ValueError
            When they are not those of these classes.
        """
        listed = classes.tolist()
        if isinstance(self.proba, Mapping):
            fits = set(self.proba) == set(listed)
            shares = [self.proba[each] for each in listed] if fits else []
        else:
            shares = list(self.proba)
        stated = np.asarray(shares, dtype=np.float64)
        if stated.shape != (len(listed),) or not (np.isfinite(stated) & (stated > 0)).all():
            raise ValueError(
                f"proba must hold a positive number for each of the {len(listed)} classes of y, "
                "stated without looking at y: a dict by class, or a list in their sorted order."
            )
        return np.asarray(stated / stated.sum())


def normal_prior(mean: Any, bounds: Any) -> PublicPrior | None:
    """Return the normal expectation of predictions, from what a user states; None where nothing is.

    A range spans six standard deviations around its middle; a mean without a range stands in the
    middle of zero and twice itself.

    Raises
    ------
    ValueError
        When a number is out of range.
    """
    if bounds is not None:
        low, high = checked_range(bounds)
        middle = (low + high) / 2 if mean is None else _mean(mean)
        return PublicPrior(middle, (high - low) / SPREADS_IN_A_RANGE, is_stated=mean is not None)
    if mean is None:
        return None
    middle = _mean(mean)
    if middle == 0:
        raise ValueError(
            "Expected(0) says nothing about how far targets lie from it; give its range as "
            "well, Expected(0, Range(low, high)), chosen without looking at y."
        )
    return PublicPrior(middle, 2 * abs(middle) / SPREADS_IN_A_RANGE, is_stated=True)


def checked_range(value_range: Any, advice: str = "") -> tuple[float, float]:
    """Return two finite numbers in their order."""
    try:
        low, high = (float(bound) for bound in value_range)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"Range must have two numbers, got {brief(value_range)}{advice}."
        ) from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"Range must be finite and increasing, got {low!r} and {high!r}.")
    return low, high


def _mean(given: Any) -> float:
    try:
        mean = float(given)
    except (TypeError, ValueError, OverflowError):
        mean = math.nan
    if not math.isfinite(mean):
        raise ValueError(
            f"mean must be a finite number, chosen without looking at y, got {brief(given)}."
        )
    return mean
