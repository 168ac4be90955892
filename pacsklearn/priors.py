"""What is publicly expected of a regressor's predictions, stated without looking at the targets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

from sklearn.base import BaseEstimator

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
class Constant(Prior):
    """A public answer that may be released by itself, and that models are drawn toward.

    :class:`AutoPrivateClassifier` and :class:`AutoPrivateRegressor` release it where no model is
    expected to beat it; everywhere else it is an :class:`Expected` number.

    Parameters
    ----------
    value : float or class label
    within : Range, optional
        As for :class:`Expected`.

    Examples
    --------
    >>> from pacsklearn.priors import Constant
    >>> Constant(150)
    Constant(value=150, within=None)
    """

    value: Any
    within: Range | None = None

    @property
    def bounds(self) -> tuple[float, float] | None:
        return None if self.within is None else self.within.bounds

    @property
    def mean(self) -> Any:
        """What it says of the predictions."""
        return self.value
