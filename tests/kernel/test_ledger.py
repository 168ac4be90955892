"""The account: atomic, idempotent, never over the ceiling, never copied."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from sklearn.base import clone

from pacsklearn.exceptions import (
    BudgetError,
    BudgetExhaustedError,
    ForeignProcessError,
    LedgerMismatchError,
)
from pacsklearn.kernel.ledger.accounts import Accounts, Posting
from pacsklearn.kernel.ledger.event import LONGEST_NOTE, Event
from pacsklearn.kernel.ledger.ledger import MemoryLedger, time_text

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
    with pytest.raises(ValueError, match="counts"):
        ledger.charge(make_event(0.1, unit="renyi"))
    assert ledger.events == ()


@pytest.mark.parametrize("charge", [-1e-9, math.nan, math.inf])
def test_charges_only_go_up(make_event: MakeEvent, charge: float) -> None:
    ledger = MemoryLedger(1.0)
    with pytest.raises(ValueError, match="finite"):
        ledger.charge(make_event(charge))
    assert ledger.events == ()


@pytest.mark.parametrize("ceiling", [0, -1.0, math.nan, math.inf, "1", None, True])
def test_a_ceiling_is_a_positive_number(ceiling: object) -> None:
    with pytest.raises(BudgetError, match="ceiling"):
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


@pytest.mark.parametrize(
    "use",
    [
        lambda ledger: ledger.reserve(0.5),
        lambda ledger: ledger.allows(0.5),
        lambda ledger: ledger.spent,
        lambda ledger: ledger.events,
        lambda ledger: pickle.loads(pickle.dumps(ledger)).remaining,
    ],
)
def test_no_account_is_in_a_pickle(use: Callable[[MemoryLedger], object]) -> None:
    ledger = MemoryLedger(1.0, per_user=0.5)
    copied = pickle.loads(pickle.dumps(ledger))
    assert (copied.ceiling, copied.unit, copied == ledger) == (1.0, "nats", False)
    with pytest.raises(ForeignProcessError, match="sqlite"):
        use(copied)


def test_a_copy_from_a_pickle_takes_no_charge(make_event: MakeEvent) -> None:
    ledger = MemoryLedger(1.0)
    with pytest.raises(ForeignProcessError):
        pickle.loads(pickle.dumps(ledger)).charge(make_event(0.5))
    assert ledger.spent == 0.0


@pytest.mark.soak
def test_a_long_account_stays_quick(make_event: MakeEvent) -> None:
    # Quadratic work would take minutes.
    ledger = MemoryLedger(1.0)
    for _ in range(20_000):
        ledger.charge(make_event(1e-6))
    assert ledger.spent == pytest.approx(0.02, rel=1e-15)


@pytest.mark.parametrize("seconds", [0, -1.0, math.nan, math.inf, 1.0000001e10, True, "1"])
def test_a_reservation_lasts_a_time(seconds: object) -> None:
    ledger = MemoryLedger(1.0)
    with pytest.raises(LedgerMismatchError, match="seconds"):
        ledger.reserve(0.5, seconds=seconds)  # type: ignore[arg-type]
    assert ledger.remaining == 1.0
    for longest in (1e10, 1, None):
        ledger.reserve(0.25, seconds=longest)
    assert ledger.remaining == 0.25


def test_times_are_texts_in_order() -> None:
    texts = [time_text(seconds) for seconds in (-86400, -1, 0, 1, 86400, 1e10)]
    assert texts == sorted(texts)
    assert {len(text) for text in texts} == {32}
    before, text, after = datetime.now(UTC), time_text(90), datetime.now(UTC)
    assert before <= datetime.fromisoformat(text) - timedelta(seconds=90) <= after


def test_what_is_over_is_given_back_before_anybody_is_refused(
    make_event: MakeEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = MemoryLedger(1.0)
    reservation = ledger.reserve(0.75, seconds=100, note="a search")
    reservation.charge(make_event(0.25))
    for ask in (lambda: ledger.check(0.5), lambda: ledger.charge(make_event(0.5))):
        with pytest.raises(BudgetExhaustedError):
            ask()
    assert (ledger.allows(0.25), ledger.allows(0.5)) == (True, False)
    assert [each.note for each in ledger.reservations] == ["a search"]
    monkeypatch.setattr("pacsklearn.kernel.ledger.book.datetime", Later)
    assert ledger.allows(0.75)
    assert not ledger.allows(0.75 + 2.0**-50)
    assert ledger.reservations == ()
    assert reservation.is_closed
    assert (reservation.ceiling, reservation.spent, reservation.remaining) == (0.25, 0.25, 0.0)
    assert not reservation.allows(0.0)
    with pytest.raises(BudgetExhaustedError):
        reservation.check(0.0)
    assert reservation.release_unspent() == 0.0
    ledger.charge(make_event(0.75))


class Later(datetime):
    """A clock that is three minutes ahead."""

    @classmethod
    def now(cls, tz=None):
        return datetime.fromtimestamp(datetime.now(UTC).timestamp() + 180, tz)


def test_handles_are_equal_where_they_charge_for_the_same(make_event: MakeEvent) -> None:
    ledger = MemoryLedger(1.0, per_user=0.5)
    ann, bob = ledger.on_behalf_of(user="ann"), ledger.on_behalf_of(user="bob")
    assert ann == ledger.on_behalf_of(user="ann")
    assert hash(ann) == hash(ledger.on_behalf_of(user="ann"))
    assert ann not in (bob, ledger, MemoryLedger(1.0), "ann")
    both = ann.on_behalf_of(project="p")
    assert both == ledger.on_behalf_of(user="ann", project="p")
    both.charge(make_event(0.375))
    assert (ann.remaining, bob.remaining, ledger.remaining) == (0.125, 0.5, 0.625)
    reservation = bob.reserve(0.25)
    assert bob.remaining == 0.25
    with pytest.raises(LedgerMismatchError, match="behalf"):
        reservation.on_behalf_of(user="ann")
    with pytest.raises(LedgerMismatchError, match="charge"):
        ledger.charge(make_event(0.0))


@pytest.mark.parametrize("amount", [0, -1.0, math.nan, None, True])
def test_an_amount_is_positive(amount: object) -> None:
    with pytest.raises(BudgetError, match="amount"):
        MemoryLedger(1.0).reserve(amount)  # type: ignore[arg-type]


def test_a_note_has_a_length() -> None:
    ledger = MemoryLedger(1.0)
    assert ledger.reserve(0.5, note="x" * LONGEST_NOTE).note == "x" * 100_000
    with pytest.raises(LedgerMismatchError, match="bytes"):
        ledger.reserve(0.5, note="x" * (LONGEST_NOTE + 1))


def test_an_event_is_found_by_its_key(make_event: MakeEvent) -> None:
    ledger, event = MemoryLedger(1.0), make_event(0.125)
    ledger.charge(event)
    assert ledger.find(event.key) == event
    assert ledger.find("another") is None
    with pytest.raises(LedgerMismatchError, match="charged"):
        ledger.charge(make_event(0.25, key=event.key))
    reservation = ledger.reserve(0.25)
    with pytest.raises(LedgerMismatchError, match="account"):
        reservation.charge(event)
    assert ledger.spent == 0.375
