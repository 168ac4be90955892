"""Budget set aside: charged to the ledger at once, spent later, given back only when closed."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pacsklearn.exceptions import (
    BudgetError,
    BudgetExhaustedError,
    LedgerError,
    LedgerMismatchError,
)
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.ledger.exact_sum import exact, exact_text, fits, largest_refund, nearest
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.upkeep.verification import verify_ledger

MakeEvent = Callable[..., Event]


@pytest.fixture(params=["memory", "sqlite"])
def account(request: pytest.FixtureRequest, uri: str) -> Ledger:
    return MemoryLedger(1.0) if request.param == "memory" else SharedLedger.found(uri, 1.0)


def verify(account: Ledger) -> None:
    assert account.spent == math.fsum(event.charge for event in account.events)
    if isinstance(account, SharedLedger):
        verify_ledger(account)


def test_a_reservation_is_charged_at_once(account: Ledger, make_event: MakeEvent) -> None:
    reservation = account.reserve(0.75, note="grid search")
    assert (account.spent, account.remaining) == (0.75, 0.25)
    assert (reservation.ceiling, reservation.spent, reservation.unit) == (0.75, 0.0, "nats")
    assert reservation.note == "grid search"
    assert not reservation.is_closed
    events = (make_event(0.25), make_event(0.25))
    assert all(reservation.charge(event) for event in events)
    assert reservation.events == events
    assert (reservation.spent, reservation.remaining, account.spent) == (0.5, 0.25, 0.75)
    assert [event.kind for event in account.events] == ["reservation"]
    with pytest.raises(BudgetExhaustedError) as caught:
        reservation.charge(make_event(0.5))
    assert (caught.value.spent, caught.value.asked, caught.value.ceiling) == (0.5, 0.5, 0.75)
    verify(account)


def test_what_does_not_fit_is_not_reserved(account: Ledger, make_event: MakeEvent) -> None:
    account.charge(make_event(0.5))
    with pytest.raises(BudgetExhaustedError) as caught:
        account.reserve(0.75)
    assert (caught.value.spent, caught.value.asked, caught.value.ceiling) == (0.5, 0.75, 1.0)
    assert account.spent == 0.5
    assert len(account.events) == 1


@pytest.mark.parametrize("amount", [0, -1, math.nan, math.inf, "1"])
def test_an_amount_is_a_positive_number(account: Ledger, amount: Any) -> None:
    with pytest.raises(BudgetError, match="amount"):
        account.reserve(amount)


def test_only_what_was_never_charged_comes_back(account: Ledger, make_event: MakeEvent) -> None:
    reservation = account.reserve(0.75)
    reservation.charge(make_event(0.25, key="answer"))
    assert reservation.release_unspent() == 0.5
    assert reservation.is_closed
    assert (reservation.ceiling, reservation.spent, reservation.remaining) == (0.25, 0.25, 0.0)
    assert (account.spent, account.remaining) == (0.25, 0.75)
    verify(account)
    assert reservation.release_unspent() == 0.0
    assert account.spent == 0.25
    assert [event.kind for event in account.events] == ["reservation", "reservation-returned"]


def test_a_closed_reservation_takes_nothing(account: Ledger, make_event: MakeEvent) -> None:
    reservation = account.reserve(0.75)
    answered = make_event(0.25)
    reservation.charge(answered)
    reservation.release_unspent()
    for charge in (0.0, 1e-9, 0.5):
        with pytest.raises(LedgerError, match="reservation"):
            reservation.charge(make_event(charge))
    with pytest.raises(LedgerError, match="reservation"):
        reservation.reserve(0.125)
    assert not reservation.charge(answered)
    assert account.spent == 0.25
    verify(account)


def test_nobody_else_writes_a_ledgers_own_events(account: Ledger, make_event: MakeEvent) -> None:
    for kind in ("reservation", "reservation-closed", "reservation-returned"):
        with pytest.raises(LedgerMismatchError, match="written"):
            account.charge(make_event(0.5, kind=kind))


def test_a_full_reservation_returns_nothing(account: Ledger, make_event: MakeEvent) -> None:
    reservation = account.reserve(1.0)
    for _ in range(10):  # their exact sum is above 1, by less than half a unit in the last place
        reservation.charge(make_event(0.1))
    assert reservation.release_unspent() == 0.0
    assert account.remaining == 0.0
    verify(account)


def test_what_remains_can_be_charged(account: Ledger, make_event: MakeEvent) -> None:
    for _ in range(9):
        account.charge(make_event(0.1))
    assert account.remaining < 0.1
    assert account.allows(0.1)
    assert not account.allows(0.1 + 1e-15)
    assert account.charge(make_event(account.remaining))
    assert account.spent == 1.0
    assert not account.allows(1e-15)


def test_a_closed_reservation_allows_nothing(account: Ledger) -> None:
    reservation = account.reserve(0.5)
    assert reservation.allows(0.5)
    reservation.release_unspent()
    assert not reservation.allows(0.0)


def test_reservations_inside_reservations(account: Ledger, make_event: MakeEvent) -> None:
    outer = account.reserve(0.75)
    inner = outer.reserve(0.5)
    inner.charge(make_event(0.125))
    assert (account.spent, outer.spent, inner.spent) == (0.75, 0.5, 0.125)
    assert inner.release_unspent() == 0.375
    assert (account.spent, outer.spent) == (0.75, 0.125)
    assert outer.release_unspent() == 0.625
    assert account.spent == 0.125
    verify(account)


def test_the_outer_one_may_close_first(account: Ledger, make_event: MakeEvent) -> None:
    outer = account.reserve(0.75)
    inner = outer.reserve(0.5)
    assert outer.release_unspent() == 0.25
    inner.charge(make_event(0.125))
    assert account.spent == 0.5
    assert inner.release_unspent() == 0.375
    assert (account.spent, outer.spent) == (0.125, 0.5)
    verify(account)


def test_a_killed_search_can_be_found(ledger: SharedLedger, make_event: MakeEvent) -> None:
    ledger.reserve(0.25).release_unspent()
    lost = ledger.reserve(0.5, note="search of Tuesday")
    lost.charge(make_event(0.125))
    (found,) = ledger.reservations
    assert (found, found.note, found.spent) == (lost, "search of Tuesday", 0.125)
    assert found.release_unspent() == 0.375
    assert ledger.reservations == ()


@given(
    st.floats(min_value=1e-12, max_value=10),
    st.lists(st.floats(min_value=0, max_value=1e-3), max_size=20),
)
def test_a_refund_is_never_more_than_what_is_left(amount: float, charges: list[float]) -> None:
    total = sum(map(Fraction, charges), Fraction(0))
    refund = Fraction(largest_refund(amount, exact(total)))
    left = max(Fraction(amount) - total, Fraction(0))
    assert refund <= left
    assert left - refund <= Fraction(math.ulp(float(left)))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20), st.floats(0, 1e308))
@example([], 1.0)
@example([5e-324, -5e-324, 5e-324], 5e-324)
@example([1.0, 2.0**-53], 1.0)
@example([0.1] * 9, 1.0)
def test_sums_are_those_of_fractions(charges: list[float], ceiling: float) -> None:
    total = sum(map(Fraction, charges), Fraction(0))
    ours = sum(map(exact, charges))
    assert (ours, exact_text(ours)) == (exact(total), str(total))
    assert Fraction(ours, 2**1074) == total
    assume(abs(total) < 2**1023)
    assert nearest(ours) == float(total)
    assert all(fits(ours, each, ceiling) == (float(total + Fraction(each)) <= ceiling)
               for each in (0.0, 0.1, 5e-324, ceiling / 2))  # fmt: skip
