"""What is publicly expected of predictions, stated without looking at the targets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.base import BaseEstimator

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.public_prior import PublicPrior, checked_range

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
        """Normal expectation of the predictions.

        Raises
        ------
        ValueError
            When a number is out of range.
        """
        expected = PublicPrior.of(self.mean, self.bounds)
        assert expected is not None  # one of the two is stated
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
        """Probabilities of sorted classes; (n_classes,).

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
