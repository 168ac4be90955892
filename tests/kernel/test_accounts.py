"""What may stand in a ledger, from postings alone; exact sums against fractions."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from pacsklearn.exceptions import BudgetExhaustedError, LedgerError, LedgerMismatchError
from pacsklearn.kernel.ledger.accounts import Accounts, LedgerTerms, Posting
from pacsklearn.kernel.ledger.event import Bookkeeping
from pacsklearn.kernel.ledger.exact_sum import exact, exact_text, fits, largest_refund, nearest


def posting(kind: str, charge: float, key: str, account: str = "", **more: str) -> Posting:
    return Posting(account, Bookkeeping(kind, charge, "nats", key=key), **more)


def reserved(amount: float = 0.5, **more: str) -> Accounts:
    accounts = Accounts(LedgerTerms(1.0, "nats"))
    accounts.add(posting("reservation", amount, "r", **more))
    return accounts


def test_what_a_reservation_did_not_spend_comes_back_once() -> None:
    accounts = reserved(user="ann", project="p")
    accounts.add(posting("release", 0.125, "a", "r"))
    closed, returned = accounts.closing("r")
    assert returned.event.charge == -0.375
    assert accounts.wrong(returned) == "returns what was not given back"  # it is still open
    accounts.add(closed)
    assert (
        accounts.wrong(posting("release", 0.0, "b", "r")) == "was charged to a closed reservation"
    )
    with pytest.raises(LedgerError, match="closed"):
        accounts.check(posting("release", 0.0, "b", "r"))
    for other in ({"user": "bob"}, {"project": None}, {"account": "r"}):
        assert accounts.wrong(returned._replace(**other)) != ""
    more = returned._replace(event=replace(returned.event, charge=-math.nextafter(0.375, 1.0)))
    assert accounts.wrong(more) == "returns more than was left"
    less = returned._replace(event=replace(returned.event, charge=1e-9))
    assert accounts.wrong(less) == "returns more than was left"
    assert accounts.wrong(returned) == ""
    accounts.add(returned)
    assert accounts.wrong(returned) == "returns what was not given back"
    assert nearest(accounts.total("")) == accounts.ceiling("r") == 0.125
    assert accounts.open_reservations("") == []


def test_a_reservation_in_a_closed_one_returns_to_the_one_above() -> None:
    accounts = reserved()
    accounts.add(posting("reservation", 0.25, "inner", "r"))
    assert accounts.open_reservations("") == ["r"]
    assert accounts.open_reservations("r") == ["inner"]
    for each in accounts.closing("r"):
        accounts.add(each)
    closed, returned = accounts.closing("inner")
    accounts.add(closed)
    assert returned.account == ""
    assert accounts.wrong(returned._replace(account="r")) != ""
    assert accounts.wrong(returned) == ""


def test_reservations_expire_at_their_time_the_earliest_first() -> None:
    accounts = reserved(0.25, expires="2030")
    accounts.add(posting("reservation", 0.25, "s", expires="2029"))
    accounts.add(posting("reservation", 0.25, "t"))
    assert accounts.expired("2028") == []
    assert accounts.expired("2029") == ["s"]
    assert accounts.expired("2030") == ["s", "r"]
    accounts.add(accounts.closing("s")[0])
    assert accounts.expired("2031") == ["r"]


def test_owners_have_ceilings_of_their_own() -> None:
    accounts = Accounts(LedgerTerms(1.0, "nats", per_user=0.25, per_project=0.5))
    charge = posting("release", 0.25, "a", user="ann", project="p")
    accounts.check(charge)
    accounts.add(charge)
    # Others of the project share its ceiling, to the last bit, and not the user's.
    accounts.check(posting("release", 0.25, "b", user="bob", project="p"))
    accounts.add(posting("release", 0.125, "b", user="bob", project="p"))
    accounts.check(posting("release", 0.125, "c", user="eve", project="p"))
    above = 0.125 + 2.0**-50
    with pytest.raises(BudgetExhaustedError, match="project"):
        accounts.check(posting("release", above, "c", user="eve", project="p"))
    with pytest.raises(BudgetExhaustedError, match="user"):
        accounts.check(posting("release", above, "c", user="bob", project="q"))
    with pytest.raises(LedgerMismatchError, match="charge"):
        accounts.check(posting("release", 0.1, "b", user="bob"))
    assert accounts.wrong(posting("release", 0.1, "b")) == "does not say whose charge it is"
    assert accounts.wrong(posting("release", -0.1, "b", user="a", project="p")) == (
        "has a negative charge"
    )
    assert accounts.wrong(posting("repair", 0.1, "b")) == ""
    assert accounts.wrong(posting("repair", 0.8, "b")) == "passes the ceiling"


@pytest.mark.parametrize("amount", [0.0, 5e-324, 0.1, 1.0, 3.5, 1e300])
@pytest.mark.parametrize("spent", [0.0, 5e-324, 0.1, 0.7, 3.5])
def test_sums_are_exact_and_refunds_never_more_than_is_left(amount: float, spent: float) -> None:
    total = exact(spent)
    assert Fraction(exact(amount), 2**1074) == Fraction(amount)
    assert nearest(exact(amount)) == amount
    for either in (amount, -spent, amount + spent):
        assert exact_text(exact(either)) == str(Fraction(either))
    assert fits(total, amount, spent + amount)
    assert not fits(total, amount, math.nextafter(spent + amount, -1.0))
    refund, left = Fraction(largest_refund(amount, total)), Fraction(amount) - Fraction(spent)
    assert refund <= max(left, 0)
    if left > 0:
        assert Fraction(math.nextafter(float(refund), math.inf)) > left
