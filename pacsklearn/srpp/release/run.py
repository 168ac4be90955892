"""A run of noised gradient steps, each charged before it is taken."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from pacsklearn._validation import check_integer
from pacsklearn.exceptions import ForeignProcessError, LedgerMismatchError, SessionRolledBackError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.ledger.event import Bookkeeping, Event, Provenance
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger
from pacsklearn.kernel.noise.noise_law import Integers
from pacsklearn.kernel.noise.sampler import NoisePool, Sampler
from pacsklearn.kernel.release.account import Account
from pacsklearn.kernel.secret.owner_process import OwnerProcess
from pacsklearn.srpp.descent.srpp_sgd_accountant import SRPPSGDAccountant
from pacsklearn.srpp.laws.batch_sampler import BatchSampler
from pacsklearn.srpp.release.renyi_unit import check_unit, renyi_unit
from pacsklearn.srpp.release.world_differences import WorldDifferences
from pacsklearn.srpp.scenarios.scenario import Scenario

_WHAT = "A run of private gradient steps"


def run_unit(
    order: float, accounting: str, scenario: Scenario, secret_name: str | None = None
) -> str:
    """Return the unit that the steps of a run are charged in; means are not added to others."""
    mean = " in the mean over batches" if accounting == "subsampling-aware" else ""
    return renyi_unit(
        order=order,
        aggregation=f"full{mean}",
        profile=None,
        scenario=scenario,
        secret_name=secret_name,
    )


@final
@dataclass(frozen=True)
class RunRecord:
    """Where a run stands: enough to go on with it. Holds nothing secret.

    Parameters
    ----------
    unit : str
        Of every price.
    prices : tuple of (float, int, float)
        Price of a step, steps charged at it, and the Renyi divergence of one such step's release,
        in order.
    n_steps : int
        Steps taken; charged ones that were not taken yet are taken first when the run goes on.
    noise_multiplier : float
    session : str
        Name of the run on a shared ledger.
    n_charged : int
        Its events there.
    secure : bool
        Whether all noise so far came from the operating system.
    """

    unit: str
    prices: tuple[tuple[float, int, float], ...]
    n_steps: int
    noise_multiplier: float
    session: str
    n_charged: int
    secure: bool

    @property
    def n_charged_steps(self) -> int:
        """Steps charged."""
        return sum(count for _, count, _ in self.prices)


@final
@dataclass(frozen=True)
class Charging:
    """What a run may cost, and where its steps are charged.

    Parameters
    ----------
    ceiling : float
        Most that the run may cost, in nats; what it has cost already, where that is more.
    shared : Ledger, optional
        Account shared with other releases.
    record : RunRecord, optional
        Of a run to go on with.
    steps_per_charge : int, default=1
        Steps that are charged together, beforehand.
    """

    ceiling: float
    shared: Ledger | None = None
    record: RunRecord | None = None
    steps_per_charge: int = 1


# How far the runs of this process are: of all copies of a record, one goes on.
_HEADS: dict[str, tuple[OwnerProcess, int]] = {}
_LOCK = threading.Lock()


def _check_head(session: str, n_paid: int, *, shared: bool) -> None:
    """Refuse a run whose copy has gone on, and another process's that no ledger numbers."""
    known = _HEADS.get(session)
    if known is None or not known[0].is_here:
        if shared:
            return
        raise ForeignProcessError(_WHAT)
    reached = known[1]
    if reached != n_paid:
        raise SessionRolledBackError(
            f"A copy of this run has gone on: {reached} steps are charged, {n_paid} of them "
            "here. Go on with that copy, or call fit for a new run."
        )


def _advance_head(account: Account, n_paid: int, count: int) -> None:
    """Note that ``count`` steps more are charged; only the head may take them."""
    with _LOCK:
        if n_paid:
            _check_head(account.session, n_paid, shared=account.shared is not None)
        _HEADS[account.session] = account.home, n_paid + count


@final
class PrivateRun:
    """The steps of one run, its account and its noise. Coordinator only; close it at the end.

    For every step, in this order: :meth:`next_batch` charges it and draws its rows, the caller sums
    their clipped gradients, and :meth:`noised_mean` makes of the sum what may leave. The sum is
    rounded to whole multiples of the lattice's step, and whole numbers of noise are added.

    Parameters
    ----------
    accountant : SRPPSGDAccountant
    scenario : Scenario
    noise_multiplier : float
        Positive.
    charging : Charging
    sampler : Sampler
        Source of the noise and of the batches.
    differences : WorldDifferences, optional
        What the guarantee says about the scenario's data sets; any two when not given.
    secret_name : str, optional
        What the user calls the secret; part of the unit.
    provenance : tuple of Provenance

    Raises
    ------
    LedgerMismatchError
        When the ledger, or the run to go on with, counts something else.
    ForeignProcessError, SessionRolledBackError
        When the run to go on with is another process's, or a copy of it has gone on, and no shared
        ledger can tell.
    """

    def __init__(
        self,
        accountant: SRPPSGDAccountant,
        scenario: Scenario,
        noise_multiplier: float,
        *,
        charging: Charging,
        sampler: Sampler,
        differences: WorldDifferences | None = None,
        secret_name: str | None = None,
        provenance: tuple[Provenance, ...] = (),
    ) -> None:
        shared, record = charging.shared, charging.record
        self.accountant, self.scenario = accountant, scenario
        self.noise_multiplier = noise_multiplier
        self.unit = run_unit(accountant.order, accountant.accounting, scenario, secret_name)
        self.price = accountant.cost(noise_multiplier)
        self.sampler, self.provenance = sampler, provenance
        cap = accountant.cap
        self._batch_size = cap.batch_size
        self._grid = accountant.clipping.grid(noise_multiplier, accountant.most_rows)
        self._batches = BatchSampler.beside(sampler, cap.n_rows, cap.batch_size, cap.sampling)
        self.differences = differences or WorldDifferences(cap.largest)
        self._at_once = check_integer(
            name="steps_per_charge", value=charging.steps_per_charge, minimum=1
        )
        if shared is not None:
            check_unit(shared.unit, self.unit)
        self._prices: list[tuple[float, int, float]] = []
        before: list[Event] = []
        self.n_steps, self._secure = 0, sampler.is_secure
        session, n_charged = None, 0
        if record is not None:
            if record.unit != self.unit:
                raise LedgerMismatchError(
                    f"The run so far is counted in {record.unit}, the next step in {self.unit}; "
                    "call fit for a new run."
                )
            self._prices, self.n_steps = list(record.prices), record.n_steps
            # One step with noise that can be drawn again, and the run may not be published.
            self._secure = self._secure and record.secure
            session, n_charged = record.session, record.n_charged
            _check_head(session, record.n_charged_steps, shared=shared is not None)
            for price, count, _ in record.prices:
                # Rounded up: what was spent is never forgotten.
                spent = math.nextafter(count * price, math.inf)
                doubt = accountant.failure(count)
                before.append(Bookkeeping("steps-before", spent, self.unit, confidence=1.0 - doubt))
        self.ceiling = max(charging.ceiling, math.fsum(event.charge for event in before))
        own = MemoryLedger(self.ceiling, self.unit)
        for event in before:
            own.charge(event)
        self.account = Account(own, shared, session, n_charged)
        self._pool = NoisePool(sampler)

    @property
    def spent(self) -> float:
        """Nats that the run cost so far, in its unit."""
        return self.account.own.spent

    @property
    def record(self) -> RunRecord:
        """Where the run stands."""
        return RunRecord(
            unit=self.unit,
            prices=tuple(self._prices),
            n_steps=self.n_steps,
            noise_multiplier=self.noise_multiplier,
            session=self.account.session,
            n_charged=self.account.n_charged,
            secure=self._secure,
        )

    def next_batch(self) -> Integers:
        """Charge the next step, then draw its rows.

        Raises
        ------
        BudgetExhaustedError
            When another step does not fit; nothing is charged or looked at then.
        """
        self.account.home.check()
        n_paid = self.record.n_charged_steps
        if n_paid <= self.n_steps:
            count = self._at_once
            # Close to the ceiling fewer at once: steps that still fit alone are not lost.
            while count > 1 and not self.account.own.allows(count * self.price):
                count -= 1
            event = self.accountant.event(self.noise_multiplier, count, self.unit, self.provenance)
            self.account.charge(event)
            # After the charge: a refused one must leave the run where it can still go on.
            _advance_head(self.account, n_paid, count)
            self._count(count)
        self.n_steps += 1
        return self._batches.draw()

    def noised_mean(self, total: Floats) -> Floats:
        """Return what may leave of the sum of a batch's clipped gradients: their noised mean.

        Parameters
        ----------
        total : ndarray of shape (d,)
        """
        # Whole numbers before the noise: the low digits of a noised sum of doubles would show it.
        centres = np.rint(np.asarray(total, dtype=np.float64) / self._grid).astype(np.int64)
        released = centres + self._pool.take(centres.size)
        return np.asarray(released * (self._grid / self._batch_size))

    def close(self) -> None:
        """Stop drawing noise."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return "PrivateRun(...)"

    def _count(self, count: int) -> None:
        if self._prices and self._prices[-1][0] == self.price:
            count += self._prices.pop()[1]
        release = self.accountant.release_cost(self.noise_multiplier)
        self._prices.append((self.price, count, release))

    def __reduce__(self) -> Any:
        raise TypeError("A private run cannot be pickled; keep its record.")
