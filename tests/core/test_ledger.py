"""The account: atomic, idempotent, never over the ceiling, never copied."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sklearn.base import clone

from pacsklearn.core.accounts import Accounts, Posting
from pacsklearn.core.event import Event
from pacsklearn.core.ledger import MemoryLedger
from pacsklearn.exceptions import BudgetError, BudgetExhaustedError

MakeEvent = Callable[..., Event]


def test_an_account(make_event: MakeEvent) -> None:
    ledger = MemoryLedger(1.0)
    assert (ledger.ceiling, ledger.unit, ledger.spent, ledger.remaining) == (1.0, "nats", 0.0, 1.0)
    events = (make_event(0.25), make_event(0.0), make_event(0.75))
    assert all(ledger.charge(event) for event in events)
    assert ledger.events == events
    assert (ledger.spent, ledger.remaining) == (1.0, 0.0)


def test_a_charge_that_does_not_fit_changes_nothing(make_event: MakeEvent) -> None:
    ledger = MemoryLedger(1.0)
    ledger.charge(make_event(0.75))
    before = ledger.events
    with pytest.raises(BudgetExhaustedError) as caught:
        ledger.charge(make_event(0.25 + 1e-15))
    assert ledger.events == before
    error = caught.value
    assert (error.spent, error.ceiling) == (0.75, 1.0)
    assert error.asked > 0.25
    for part in ("0.75 nats are spent", "asks for 0.25", "ceiling is 1", "at most 0.25 nats"):
        assert part in str(error)
    assert ledger.charge(make_event(0.25))


def test_the_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(BudgetExhaustedError(0.5, 1.0, 0.75)))
    assert (error.spent, error.asked, error.ceiling) == (0.5, 1.0, 0.75)


def test_one_key_is_charged_once(make_event: MakeEvent) -> None:
    ledger = MemoryLedger(1.0)
    event = make_event(0.75, key="answer 1")
    assert ledger.charge(event)
    assert not ledger.charge(event)
    assert ledger.spent == 0.75


def test_small_charges_are_summed_exactly(make_event: MakeEvent) -> None:
    ledger = MemoryLedger(1.0)
    for _ in range(10):
        ledger.charge(make_event(0.1))
    assert ledger.spent == 1.0
    with pytest.raises(BudgetExhaustedError):
        ledger.charge(make_event(1e-15))


@pytest.mark.parametrize("added", [False, True])
def test_an_interrupted_charge_counts_once(
    make_event: MakeEvent, monkeypatch: pytest.MonkeyPatch, added: bool
) -> None:
    """The sums held it and the key did not: tried again, it was counted twice."""
    ledger, add, interrupts = MemoryLedger(1.0), Accounts.add, iter([KeyboardInterrupt])

    def interrupted(self: Accounts, posting: Posting) -> None:
        if added:
            add(self, posting)
        for error in interrupts:
            raise error
        if not added:
            add(self, posting)

    ledger.charge(make_event(0.25))
    event = make_event(0.25)
    monkeypatch.setattr(Accounts, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ledger.charge(event)
    monkeypatch.undo()
    assert not ledger.charge(event)
    assert ledger.spent == 0.5
    assert len(ledger.events) == 2


def test_units_are_never_added(make_event: MakeEvent) -> None:
    ledger = MemoryLedger(1.0)
    with pytest.raises(ValueError, match="counts nats, the event is in renyi"):
        ledger.charge(make_event(0.1, unit="renyi"))
    assert ledger.events == ()


@pytest.mark.parametrize("charge", [-1e-9, math.nan, math.inf])
def test_charges_only_go_up(make_event: MakeEvent, charge: float) -> None:
    ledger = MemoryLedger(1.0)
    with pytest.raises(ValueError, match="finite and >= 0"):
        ledger.charge(make_event(charge))
    assert ledger.events == ()


@pytest.mark.parametrize("ceiling", [0, -1.0, math.nan, math.inf, "1", None, True])
def test_a_ceiling_is_a_positive_number(ceiling: object) -> None:
    with pytest.raises(BudgetError, match="ceiling must be a positive"):
        MemoryLedger(ceiling)  # type: ignore[arg-type]


def test_eight_threads_never_pass_the_ceiling(make_event: MakeEvent) -> None:
    # 400 charges of 1/64 race for room for 100; half of the keys are charged by two threads.
    ledger = MemoryLedger(100 / 64)
    barrier = Barrier(8)

    def spend(worker: int) -> list[str]:
        barrier.wait()
        charged = []
        for i in range(50):
            key = f"shared {worker // 2} {i}" if i % 2 else f"own {worker} {i}"
            try:
                if ledger.charge(make_event(1 / 64, key=key)):
                    charged.append(key)
            except BudgetExhaustedError:
                pass
        return charged

    with ThreadPoolExecutor(8) as pool:
        charged = [key for keys in pool.map(spend, range(8)) for key in keys]
    assert ledger.spent == ledger.ceiling
    assert len(charged) == len(set(charged)) == 100
    assert sorted(charged) == sorted(event.key for event in ledger.events)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda ledger: clone(ledger, safe=False)]
)
def test_a_copy_is_the_same_account(
    make_event: MakeEvent, copied: Callable[[MemoryLedger], MemoryLedger]
) -> None:
    ledger = MemoryLedger(1.0)
    copied(ledger).charge(make_event(0.5))
    assert copied(ledger) is ledger
    assert ledger.spent == 0.5


def test_an_account_cannot_be_pickled() -> None:
    with pytest.raises(TypeError, match="spend the budget a second time"):
        pickle.dumps(MemoryLedger(1.0))


def test_a_long_account_stays_quick(make_event: MakeEvent) -> None:
    # Quadratic work would take minutes.
    ledger = MemoryLedger(1.0)
    for _ in range(20_000):
        ledger.charge(make_event(1e-6))
    assert ledger.spent == pytest.approx(0.02, rel=1e-15)
