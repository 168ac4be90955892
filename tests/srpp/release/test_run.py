"""Steps of a run: what each event says of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from pacsklearn.exceptions import (
    BudgetExhaustedError,
    ForeignProcessError,
    LedgerMismatchError,
    SessionRolledBackError,
)
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.noise.sampler import SecureSampler, SeededSampler
from pacsklearn.srpp.descent.discrepancy_cap import DiscrepancyCap
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.descent.srpp_sgd_accountant import SRPPSGDAccountant
from pacsklearn.srpp.release.run import Charging, PrivateRun
from pacsklearn.srpp.scenarios.differing_rows import DifferingRows
from tests.inside import noise_of
from tests.kernel.recorded_cap import recorded_cap

TAIL, FAILURE = 1e-4, 1e-3


@pytest.mark.parametrize(
    ("accounting", "per_step"), [("worst-case", TAIL), ("subsampling-aware", 0.0)]
)
def test_the_event_of_a_step_carries_its_confidence(accounting: str, per_step: float) -> None:
    """A cap that holds with probability 1 - tail in every step was charged as if it always did."""
    cap = recorded_cap(tail=TAIL, failure=FAILURE, mean_over_data=True)
    accountant = SRPPSGDAccountant(cap, GradientClipping((1.0,), (3,)), 4.0, accounting)
    price = accountant.cost(10.0)
    with PrivateRun(
        accountant,
        DifferingRows(2),
        10.0,
        charging=Charging(8 * price, steps_per_charge=5),
        sampler=SecureSampler(),
    ) as run:
        for _ in range(6):
            run.next_batch()
        assert isinstance(run.account.own, MemoryLedger)
        events = run.account.own.events
        told = [event.confidence for event in events]
        # Five steps are charged together, then the three that still fit.
        again = PrivateRun(
            accountant,
            DifferingRows(2),
            10.0,
            charging=Charging(9 * price, record=run.record),
            sampler=SecureSampler(),
        )
        (before,) = again.account.own.events
        assert before.confidence == pytest.approx(1 - FAILURE - 8 * per_step, abs=1e-12)
    expected = [1 - FAILURE - 5 * per_step, 1 - FAILURE - 3 * per_step]
    assert told == pytest.approx(expected, abs=1e-12)
    assert [event.key for event in events] == [f"{run.account.session}/{n}" for n in range(2)]


@pytest.mark.parametrize("at_once", [1, 7])
def test_every_one_of_many_steps_is_charged(at_once: int) -> None:
    """More of them than Python keeps small integers for."""
    cap = DiscrepancyCap.differing(100, 1, 10)
    accountant = SRPPSGDAccountant(cap, GradientClipping((1.0,), (3,)), 4.0, "worst-case")
    price, most = accountant.cost(100.0), 300
    with PrivateRun(
        accountant,
        DifferingRows(1),
        100.0,
        charging=Charging((most + 0.5) * price, steps_per_charge=at_once),
        sampler=SecureSampler(),
    ) as run:
        for step in range(1, most + 1):
            run.next_batch()
            assert run.spent >= step * price * (1 - 1e-12)
        with pytest.raises(BudgetExhaustedError):
            run.next_batch()
        assert run.spent == pytest.approx(most * price)


CAP = DiscrepancyCap.differing(100, 1, 10)
ACCOUNTANT = SRPPSGDAccountant(CAP, GradientClipping((1.0,), (3,)), 4.0, "worst-case")


def opened(record: Any = None, shared: Any = None, **options: Any) -> PrivateRun:
    given = {"ceiling": 50 * ACCOUNTANT.cost(100.0), "shared": shared, "record": record} | options
    sampler = given.pop("sampler", None) or SecureSampler()
    run = partial(PrivateRun, ACCOUNTANT, DifferingRows(1), 100.0, sampler=sampler)
    return run(charging=Charging(**given))


def stepped(n_steps: int, **options: Any) -> PrivateRun:
    run = opened(**options)
    for _ in range(n_steps):
        run.next_batch()
    return run


def test_what_was_spent_before_is_never_forgotten() -> None:
    """Prices times steps, rounded up; steps that were charged and not taken are taken first."""
    before = stepped(3, steps_per_charge=7).record
    (price, count, release) = before.prices[0]
    assert (count, before.n_charged_steps, before.n_steps) == (7, 7, 3)
    assert release == ACCOUNTANT.release_cost(100.0)
    run = opened(before)
    assert Fraction(run.spent) > 7 * Fraction(price)
    assert run.spent == pytest.approx(7 * price, rel=1e-15)
    (event,) = run.account.own.events
    assert (event.kind, event.name) == ("steps-before", "bookkeeping")
    assert run.record == before
    for _ in range(4):
        run.next_batch()
    assert run.record == replace(before, n_steps=7)
    run.next_batch()
    assert run.record.prices == ((price, 8, release),)
    event = run.account.own.events[-1]
    assert (event.n_candidates, event.n_outputs, event.n_noisy) == (0, 3, 3)


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_a_run_that_has_spent_its_ceiling_opens_and_takes_the_steps_it_paid(share: float) -> None:
    """It was refused: what was spent is rounded up, past the ceiling it was spent under."""
    before = stepped(3, steps_per_charge=7)
    run = opened(before.record, ceiling=share * before.spent)
    for _ in range(4):
        run.next_batch()
    with pytest.raises(BudgetExhaustedError, match="budget"):
        run.next_batch()
    assert run.record == replace(before.record, n_steps=7)
    assert run.ceiling >= run.spent


def test_of_two_copies_the_one_that_is_not_ahead_is_refused() -> None:
    record = stepped(2).record
    one, other = opened(record), opened(record)
    one.next_batch()
    with pytest.raises(SessionRolledBackError, match="steps"):
        other.next_batch()
    assert other.record.n_steps == 2
    for n_steps in (2, 4):  # behind the other copy, or ahead of every one that there is
        forged = replace(record, prices=((record.prices[0][0], n_steps, 0.0),))
        with pytest.raises(SessionRolledBackError):
            opened(forged)
    one.next_batch()


def test_a_run_of_another_process_goes_on_by_a_ledger_alone(
    in_a_child: Callable[[Callable[[], Any]], Any],
) -> None:
    record = stepped(2).record
    unknown = replace(record, session="made elsewhere")
    ledger = MemoryLedger(1.0, unit=record.unit)
    with pytest.raises(ForeignProcessError):
        opened(unknown)
    opened(unknown, ledger).next_batch()
    assert isinstance(in_a_child(lambda: opened(record)), ForeignProcessError)
    shared = MemoryLedger(1.0, unit=record.unit)
    assert in_a_child(lambda: opened(record, shared).record == record)


@pytest.mark.parametrize("last", [1, 2, 4])
def test_fewer_steps_are_charged_together_where_not_all_of_them_fit(last: int) -> None:
    price = ACCOUNTANT.cost(100.0)
    run = opened(steps_per_charge=5, ceiling=(5.5 + last) * price)
    charged = []
    for _ in range(5 + last):
        run.next_batch()
        charged.append(run.record.n_charged_steps)
    assert charged == [5] * 5 + [5 + last] * last
    with pytest.raises(BudgetExhaustedError):
        run.next_batch()
    assert [event.n_steps for event in run.account.own.events] == [5, last]
    assert run.record.n_steps == 5 + last
    with pytest.raises(ValueError, match="steps_per_charge"):
        opened(steps_per_charge=0)


def test_another_unit_is_another_run() -> None:
    record = stepped(1).record
    with pytest.raises(LedgerMismatchError, match="call"):
        opened(replace(record, unit="another"))
    with pytest.raises(LedgerMismatchError):
        opened(shared=MemoryLedger(1.0, unit="another"))


@pytest.mark.parametrize("secure", [(True, True), (True, False), (False, True)])
def test_one_step_that_can_be_drawn_again_is_never_for_release(secure: Any) -> None:
    record = replace(stepped(1).record, secure=secure[0])
    seeded = SeededSampler(np.random.default_rng(0))
    sampler = SecureSampler() if secure[1] else seeded
    assert opened(record, sampler=sampler).record.secure == all(secure)


def test_a_mean_is_rounded_to_the_grid_and_noised_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    total = np.array([1.0, -2.5, 0.3])
    with opened() as run:
        grid = ACCOUNTANT.clipping.grid(100.0, 100)  # Poisson sampling may draw every row
        monkeypatch.setattr(noise_of(run), "take", np.arange)
        found = run.noised_mean(total)
    expected = (np.rint(total / grid) + np.arange(3)) * grid / 10
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    assert repr(run) == "PrivateRun(...)"
    assert noise_of(run).is_closed
