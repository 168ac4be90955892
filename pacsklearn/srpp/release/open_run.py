"""From an estimator's parameters to a run of private gradient steps."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from pacsklearn._validation import warn_user
from pacsklearn.exceptions import BudgetError, PrivacyLeakWarning
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.guarantee.statement_rendering import percent_up
from pacsklearn.kernel.guarantee.status import EMPTY_SUCCESS
from pacsklearn.kernel.noise.noise_law import Integers
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.descent.srpp_sgd_accountant import SRPPSGDAccountant
from pacsklearn.srpp.laws.batch_sampler import BatchSampler
from pacsklearn.srpp.parameters.run_choices import RunChoices
from pacsklearn.srpp.release.run import Charging, PrivateRun, RunRecord, run_unit
from pacsklearn.srpp.release.training_rows import TrainingRows
from pacsklearn.srpp.scenarios.differing_rows import DifferingRows
from pacsklearn.srpp.scenarios.stated_scenario import pair_success
from pacsklearn.universe.open_ledger import open_ledger

# Room for the rounding of the sum of the prices of a run whose noise was given.
_ROOM = 1 + 1e-9


@final
class PlainRun:
    """Steps without noise and without a guarantee, for comparison."""

    record: RunRecord | None = None

    def __init__(self, batches: BatchSampler, batch_size: int) -> None:
        self._batches, self._size = batches, batch_size

    def next_batch(self) -> Integers:
        """Return the rows of the next step."""
        return self._batches.draw()

    def noised_mean(self, total: Floats) -> Floats:
        """Return the mean, as it is."""
        return np.asarray(total / self._size)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def opened_run(
    choices: RunChoices,
    rows: TrainingRows,
    *,
    clipping: GradientClipping,
    n_steps: int,
    record: RunRecord | None = None,
    begun: bool = False,
) -> PrivateRun | PlainRun:
    """Return the run of an estimator on its rows.

    Parameters
    ----------
    choices : RunChoices
    rows : TrainingRows
    clipping : GradientClipping
    n_steps : int
        Planned: what a budget has to suffice for.
    record : RunRecord, optional
        Of a run to go on with, whose noise is kept.
    begun : bool, default=False
        Whether steps were taken before; without a record they had no noise.

    Raises
    ------
    BudgetError
        When steps with noise and without would be mixed, or the run would hide nothing.
    """
    budget, batches = choices.budget, choices.batches
    # Rule 3: parameters that steps without noise have moved hold what no later noise covers.
    if begun and budget.hides == (record is None):
        raise BudgetError(
            "budget: a run is noised in all of its steps or in none, and the steps so far were "
            f"{'not ' * budget.hides}noised; call fit for a new run."
        )
    if not budget.hides:
        text = "NoiseMultiplier(0) adds no noise: the model is NOT private and has no guarantee."
        warn_user(text, PrivacyLeakWarning)
        plain = BatchSampler.beside(rows.sampler, rows.n_rows, rows.batch_size, batches.sampling)
        return PlainRun(plain, rows.batch_size)
    accountant = SRPPSGDAccountant(rows.cap, clipping, float(budget.order), batches.accounting)
    before = [] if record is None else [price * count for price, count, _ in record.prices]
    multiplier = (
        budget.noise_for(accountant, n_steps) if record is None else record.noise_multiplier
    )
    planned = math.fsum([*before, n_steps * accountant.cost(multiplier)]) * _ROOM
    # A price is never below the order times the divergence of order 1.
    divergence = planned / accountant.order
    if record is None:
        divergence = min(divergence, accountant.information(multiplier, n_steps))
    _check_hides(budget, divergence)
    shared = None
    if choices.ledger is not None:
        unit = run_unit(accountant.order, accountant.accounting, rows.scenario, choices.secret_name)
        shared = open_ledger(choices.ledger, ceiling=None, unit=unit)
    return PrivateRun(
        accountant,
        rows.scenario,
        multiplier,
        charging=Charging(budget.ceiling(planned), shared, record, batches.charged_together),
        sampler=rows.sampler,
        differences=rows.differences,
        secret_name=choices.secret_name,
        provenance=(rows.provenance,),
    )


def _check_hides(budget: Any, divergence: float) -> None:
    # Rule 15: an empty promise is made with consent, and never published.
    success = pair_success(divergence)
    if success >= EMPTY_SUCCESS and not budget.allow_exact:
        raise BudgetError(
            f"budget={budget!r} would hide nothing: for all that is proved, an attack tells a pair "
            f"of secrets apart in {percent_up(success)} % of cases. Give less, for instance "
            "budget=1.0, or allow_exact=True in the budget if that is what you want; it is never "
            "published then."
        )


def planned_unit(choices: RunChoices) -> str:
    """Return the unit of a ledger that can bear the runs of an estimator."""
    named = DifferingRows() if choices.scenario is None else choices.scenario
    scenario = registry().make("scenario", named)
    order = float(choices.budget.order)
    return run_unit(order, choices.batches.accounting, scenario, choices.secret_name)
