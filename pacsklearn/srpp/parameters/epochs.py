"""How long a run of gradient descent lasts."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, final

from sklearn.base import BaseEstimator

from pacsklearn._sklearn_compat import Interval

_COUNT = Interval(Integral, 1, None, closed="left")


@final
@dataclass(repr=False)
class Epochs(BaseEstimator):
    """How many steps a run takes, and which of them the model is of.

    Parameters
    ----------
    n : int, default=20
        Epochs: so many times ``n_rows / batches.size`` steps.
    early_stopping : bool, default=False
        Stop when the score on *public* rows does not improve; only the steps taken are charged.
    tol : float, default=1e-3
        Improvement that counts.
    n_iter_no_change : int, default=5
        Epochs without one, until the run stops.
    average : bool or int, default=False
        Publish the mean of the parameters of all steps, or of those from this one on.
    """

    n: int = 20
    early_stopping: bool = False
    tol: float = 1e-3
    n_iter_no_change: int = 5
    average: bool | int = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n": [_COUNT],
        "early_stopping": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_iter_no_change": [_COUNT],
        "average": [_COUNT, bool],
    }
