"""Handles to an account: whose charges they make, and for how long."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from pacsklearn.core import booked_ledger
from pacsklearn.core.booked_ledger import time_text
from pacsklearn.core.event import LONGEST_NOTE, Event
from pacsklearn.core.ledger import MemoryLedger
from pacsklearn.exceptions import BudgetError, BudgetExhaustedError, LedgerMismatchError

MakeEvent = Callable[..., Event]


@pytest.mark.parametrize("seconds", [0, -1.0, math.nan, math.inf, 1.0000001e10, True, "1"])
def test_a_reservation_lasts_a_time(seconds: object) -> None:
    ledger = MemoryLedger(1.0)
    with pytest.raises(LedgerMismatchError, match="seconds must be"):
        ledger.reserve(0.5, seconds=seconds)  # type: ignore[arg-type]
    assert ledger.remaining == 1.0
    for longest in (1e10, 1, None):
        ledger.reserve(0.25, seconds=longest)
    assert ledger.remaining == 0.25


def test_times_are_texts_in_order() -> None:
    texts = [time_text(seconds) for seconds in (-86400, -1, 0, 1, 86400, 1e10)]
    assert texts == sorted(texts)
    assert {len(text) for text in texts} == {32}
    apart = datetime.fromisoformat(time_text(90)) - datetime.now(UTC)
    assert 80 < apart.total_seconds() <= 90


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
    monkeypatch.setattr(booked_ledger, "datetime", Later)
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
    with pytest.raises(LedgerMismatchError, match="on behalf of whoever made it"):
        reservation.on_behalf_of(user="ann")
    with pytest.raises(LedgerMismatchError, match="say whose charge it is"):
        ledger.charge(make_event(0.0))


@pytest.mark.parametrize("amount", [0, -1.0, math.nan, None, True])
def test_an_amount_is_positive(amount: object) -> None:
    with pytest.raises(BudgetError, match="amount must be"):
        MemoryLedger(1.0).reserve(amount)  # type: ignore[arg-type]


def test_a_note_has_a_length() -> None:
    ledger = MemoryLedger(1.0)
    assert ledger.reserve(0.5, note="x" * LONGEST_NOTE).note == "x" * 100_000
    with pytest.raises(LedgerMismatchError, match="at most 100000 bytes"):
        ledger.reserve(0.5, note="x" * (LONGEST_NOTE + 1))


def test_an_event_is_found_by_its_key(make_event: MakeEvent) -> None:
    ledger, event = MemoryLedger(1.0), make_event(0.125)
    ledger.charge(event)
    assert ledger.find(event.key) == event
    assert ledger.find("another") is None
    with pytest.raises(LedgerMismatchError, match="charged for another event"):
        ledger.charge(make_event(0.25, key=event.key))
    reservation = ledger.reserve(0.25)
    with pytest.raises(LedgerMismatchError, match="or another account"):
        reservation.charge(event)
    assert ledger.spent == 0.375
