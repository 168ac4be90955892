"""From an estimator's parameters to a run of private gradient steps."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import warn_user
from pacsklearn.exceptions import PrivacyLeakWarning
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.ledger.open_ledger import open_ledger
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.srpp.descent.discrepancy_cap import DiscrepancyCap
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.descent.srpp_sgd_accountant import SRPPSGDAccountant
from pacsklearn.srpp.laws.batch_sampler import BatchSampler
from pacsklearn.srpp.release.run import Charging, PrivateRun, RunRecord, run_unit
from pacsklearn.srpp.release.training_rows import TrainingRows
from pacsklearn.srpp.scenarios.differing_rows import DifferingRows

Integers = NDArray[np.int64]

# Room for the rounding of the sum of the prices of a run whose noise was given.
_ROOM = 1 + 1e-9


@final
class PlainRun:
    """Steps without noise and without a guarantee, for comparison."""

    record: RunRecord | None = None

    def __init__(self, batches: BatchSampler, batch_size: int) -> None:
        self._batches, self._size = batches, batch_size

    def next_batch(self) -> Integers:
        """Rows of the next step."""
        return self._batches.draw()

    def noised_mean(self, total: Floats) -> Floats:
        """Mean, as it is."""
        return np.asarray(total / self._size)

    def guarantee(
        self, delta: float, dimension: str, public: Iterable[str], leaks: Iterable[str] = ()
    ) -> None:
        """Nothing is promised."""
        return

    def close(self) -> None:
        """Nothing to do."""


def opened_run(
    model: Any,
    rows: TrainingRows,
    *,
    clipping: GradientClipping,
    n_steps: int,
    record: RunRecord | None = None,
) -> PrivateRun | PlainRun:
    """Run of an estimator on its rows.

    Parameters
    ----------
    model : estimator
        With ``epsilon``, ``noise_multiplier``, ``order``, ``accounting``, ``sampling``,
        ``secret_name``, ``ledger`` and ``steps_per_charge``, all checked.
    rows : TrainingRows
    clipping : GradientClipping
    n_steps : int
        Planned: what ``epsilon`` has to suffice for.
    record : RunRecord, optional
        Of a run to go on with, whose noise is kept.
    """
    if model.noise_multiplier == 0:
        warn_user(
            "noise_multiplier=0 adds no noise: the model is NOT private and has no guarantee.",
            PrivacyLeakWarning,
        )
        batches = BatchSampler.beside(rows.sampler, rows.n_rows, rows.batch_size, model.sampling)
        return PlainRun(batches, rows.batch_size)
    accountant = SRPPSGDAccountant(rows.cap, clipping, float(model.order), model.accounting)
    if record is not None:
        multiplier = record.noise_multiplier
    elif model.noise_multiplier is None:
        multiplier = accountant.noise_multiplier(float(model.epsilon), n_steps)
    else:
        multiplier = float(model.noise_multiplier)
    ceiling = (
        float(model.epsilon)
        if model.noise_multiplier is None
        else _planned(accountant, multiplier, n_steps, record)
    )
    unit = run_unit(accountant, rows.scenario, model.secret_name)
    shared = None
    if model.ledger is not None:
        shared = open_ledger(model.ledger, ceiling=None, unit=unit)
    return PrivateRun(
        accountant,
        rows.scenario,
        multiplier,
        charging=Charging(ceiling, shared, record, model.steps_per_charge),
        sampler=rows.sampler,
        differences=rows.differences,
        secret_name=model.secret_name,
        provenance=(rows.provenance,),
    )


def planned_unit(model: Any) -> str:
    """Unit of a ledger that can bear the runs of an estimator."""
    scenario = registry().make(
        "scenario", DifferingRows() if model.scenario is None else model.scenario
    )
    cap = DiscrepancyCap.differing(1, 1, 1)
    clipping = GradientClipping((1.0,), (1,))
    accountant = SRPPSGDAccountant(cap, clipping, float(model.order), model.accounting)
    return run_unit(accountant, scenario, model.secret_name)


def _planned(
    accountant: SRPPSGDAccountant, multiplier: float, n_steps: int, record: RunRecord | None
) -> float:
    """Ceiling of a run whose noise was given: what all its steps cost."""
    before = [] if record is None else [price * count for price, count, _ in record.prices]
    return math.fsum([*before, n_steps * accountant.cost(multiplier)]) * _ROOM
