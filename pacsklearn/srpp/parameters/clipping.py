"""Clipping of the rows' gradients."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, final

from sklearn.base import BaseEstimator

from pacsklearn._sklearn_compat import Interval


@final
@dataclass(repr=False)
class Clipping(BaseEstimator):
    """How far a row may move a gradient step.

    Parameters
    ----------
    norm : float, default=1.0
        To which the gradient of every row is clipped.
    feature_bounds : array-like of shape (n_features,), optional
        Public bounds of the columns' absolute values, from a codebook. The model is then trained
        on columns divided by them, and given for columns as they are: noise on a coefficient is
        the less the larger its column (a matrix cap), and small columns are learnt as well as
        large ones. No row within the bounds is clipped whose loss has a slope of at most
        ``norm``; rows beyond them are. The penalty is of the divided columns' coefficients. A run
        that was begun keeps its bounds.
    """

    norm: float = 1.0
    feature_bounds: Any = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "norm": [Interval(Real, 0, None, closed="neither")],
    }
