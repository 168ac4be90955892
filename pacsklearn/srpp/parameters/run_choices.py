"""What a user chooses about a private run, whatever is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self, final

from pacsklearn._sklearn_compat import check_parameters
from pacsklearn.srpp.parameters.batches import Batches
from pacsklearn.srpp.parameters.noise_multiplier import NoiseMultiplier
from pacsklearn.srpp.parameters.renyi import Renyi, as_renyi
from pacsklearn.srpp.parameters.stated import stated
from pacsklearn.srpp.release.renyi_unit import check_secret_name
from pacsklearn.srpp.scenarios.scenario import Scenario

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
        return cls(
            budget,
            model.scenario,
            stated(Batches, model.batches, "batches"),
            model.secret_name,
            model.ledger,
            model.random_state,
        )
