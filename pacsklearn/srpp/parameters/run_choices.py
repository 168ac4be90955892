"""What a user chooses about a private run, whatever is trained: batches, budget, ledger."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Final, Self, final

from sklearn.base import BaseEstimator

from pacsklearn._sklearn_compat import Interval, StrOptions, check_parameters
from pacsklearn.srpp.descent.discrepancy_cap import DiscrepancyCap
from pacsklearn.srpp.descent.srpp_sgd_accountant import ACCOUNTINGS
from pacsklearn.srpp.divergence.discrepancy import SAMPLINGS
from pacsklearn.srpp.parameters.renyi import NoiseMultiplier, Renyi, as_renyi
from pacsklearn.srpp.parameters.stated import stated
from pacsklearn.srpp.release.renyi_unit import check_secret_name
from pacsklearn.srpp.scenarios.scenario import Scenario

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


SCENARIO: Final[dict[str, list[Any]]] = {"scenario": [Scenario, str, None]}
"""Constraint of what is secret."""


@final
@dataclass(frozen=True, eq=False)
class RunChoices:
    """Budget, secret and batches of a run of gradient steps, and where they are charged.

    Parameters
    ----------
    budget : Renyi or NoiseMultiplier
    scenario : Scenario, str or None
    batches : Batches
    secret_name : str, optional
    ledger, random_state : object
        As for the estimators.
    """

    budget: Renyi | NoiseMultiplier
    scenario: Any
    batches: Batches
    secret_name: str | None = None
    ledger: Any = None
    random_state: Any = None

    @classmethod
    def of(cls, model: Any) -> Self:
        """Return the choices of an estimator, checked with its plain parameters."""
        check_parameters(model)
        check_secret_name(model.secret_name, model.ledger)
        budget = as_renyi(model.budget, NoiseMultiplier)
        if model.ledger is not None and not budget.hides:
            raise ValueError(
                "NoiseMultiplier(0) gives no guarantee, so there is nothing a ledger could count; "
                "leave the ledger out, or give a positive noise multiplier."
            )
        batches = stated(Batches, model.batches, "batches")
        return cls(
            budget, model.scenario, batches, model.secret_name, model.ledger, model.random_state
        )
