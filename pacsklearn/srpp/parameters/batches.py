"""Batches of private gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, final

from sklearn.base import BaseEstimator

from pacsklearn._sklearn_compat import Interval, StrOptions
from pacsklearn.srpp.descent.discrepancy_cap import DiscrepancyCap
from pacsklearn.srpp.descent.srpp_sgd_accountant import ACCOUNTINGS
from pacsklearn.srpp.divergence.discrepancy import SAMPLINGS

_COUNT = Interval(Integral, 1, None, closed="left")


@final
@dataclass(repr=False)
class Batches(BaseEstimator):
    """How the rows of each gradient step are drawn, and who may know which ones they were.

    Parameters
    ----------
    size : int, default=64
        Rows of a step, and what the sum of their gradients is divided by; all rows where there are
        fewer.
    sampling : {"poisson", "without-replacement", "with-replacement"}, default="poisson"
        Every row by a coin of its own, so that ``size`` is a mean; a set of rows; or rows drawn one
        by one. Secret batches are worth most with the first.
    accounting : {"secret-batches", "worst-case", "subsampling-aware"}, default="secret-batches"
        ``"secret-batches"``: divergence of the release, while nobody learns which rows a step
        looked at. ``"worst-case"``: whatever the batches, which may be known (SRPP-SGD, by
        history-uniform caps). ``"subsampling-aware"``: a mean over the batches, which may be known
        (sa-SRPP-SGD).
    discrepancy : DiscrepancyCap, optional
        How many rows of a batch the secret changes, instead of what the scenario says. It may not
        promise less than the scenario does.
    charged_together : int, default=1
        Batches that are charged at once, beforehand, for ledgers that are slow.
    """

    size: int = 64
    sampling: str = "poisson"
    accounting: str = "secret-batches"
    discrepancy: DiscrepancyCap | None = None
    charged_together: int = 1

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "size": [_COUNT],
        "sampling": [StrOptions(set(SAMPLINGS))],
        "accounting": [StrOptions(set(ACCOUNTINGS))],
        "discrepancy": [DiscrepancyCap, None],
        "charged_together": [_COUNT],
    }
