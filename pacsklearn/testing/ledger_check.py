"""The contract of a ledger."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier
from typing import Any, Final

from pacsklearn.exceptions import (
    BudgetExhaustedError,
    LedgerError,
    LedgerMismatchError,
    PacsklearnError,
)
from pacsklearn.kernel.ledger.event import Event, LatticeNoise
from pacsklearn.kernel.ledger.ledger import Ledger
from pacsklearn.testing.rule import Rule

_KEEP: Final = "write the event, or refuse it and change nothing."
_LOCK: Final = "read, compare and write inside one transaction that locks the data set."


def check_ledger(
    make_ledger: Callable[..., Ledger], *, clients: int = 16, requests: int = 64
) -> None:
    """Check a ledger against the rules that make a shared budget safe.

    Parameters
    ----------
    make_ledger : callable
        ``make_ledger(ceiling)`` founds a new, empty ledger in nats; it takes ``per_user`` and
        ``per_project`` as well.
    clients, requests : int
        Threads that charge at once, and how often each tries.

    Raises
    ------
    AssertionError
        Naming the rule that is broken and what to do.

    Notes
    -----
    1. *Ceiling*: charges are summed exactly, what does not fit changes nothing.
    2. *Once*: one key is charged once; a replay gives False, :meth:`~Ledger.find` the stored event.
    3. *Types*: what is not an event of the ledger's unit is refused by an error of pacsklearn.
    4. *Reservations*: charged at once, spent later, given back once, also when their time is over.
    5. *Owners*: ceilings of users and projects hold beside the ledger's own.
    6. *Concurrency*: of many callers at once exactly as many are granted as fit. A store that
       reads, compares and writes back grants too many.
    7. *Handle*: a copy is the same account.

    Examples
    --------
    >>> from pacsklearn.kernel.ledger.ledger import MemoryLedger
    >>> from pacsklearn.testing import check_ledger
    >>> check_ledger(MemoryLedger)
    """
    _check_ceiling(make_ledger)
    _check_once(make_ledger(1.0))
    _check_types(make_ledger(1.0))
    _check_reservations(make_ledger(1.0))
    _check_expiry(make_ledger(1.0))
    _check_owners(make_ledger)
    _check_handle(make_ledger(1.0))
    _check_concurrency(make_ledger(3.0), clients, requests)


def _event(charge: float, **changes: Any) -> Event:
    facts: dict[str, Any] = {
        "kind": "responses",
        "charge": charge,
        "unit": "nats",
        "backend": "logdet",
        "bound": charge,
        "n_candidates": 8,
        "n_outputs": 5,
        "n_noisy": 4,
    }
    return LatticeNoise(**facts | changes)


def _check_ceiling(make_ledger: Callable[..., Ledger]) -> None:
    rule = Rule("ceiling")
    ledger = make_ledger(1.0)
    state = (ledger.ceiling, ledger.unit, ledger.spent, ledger.remaining, ledger.events)
    rule.require(
        state == (1.0, "nats", 0.0, 1.0, ()),
        f"A new ledger has (ceiling, unit, spent, remaining, events) = {state}.",
        "found it empty, with the ceiling it was given.",
    )
    # Added as doubles they make 0.9999999999999999, and the ledger would take a little more.
    charged = [ledger.charge(_event(0.1)) for _ in range(10)]
    rule.require(
        all(charged) and ledger.spent == 1.0,
        f"Ten charges of 0.1 under a ceiling of 1 give {charged} and {ledger.spent!r} spent.",
        "sum charges as fractions, and round the sum once.",
    )
    before = (ledger.events, ledger.spent)
    error = rule.refused(
        BudgetExhaustedError,
        "A charge of 1e-12 above a full ledger",
        lambda: ledger.charge(_event(1e-12)),
    )
    rule.require(
        (error.spent, error.asked, error.ceiling) == (1.0, 1e-12, 1.0)
        and (ledger.events, ledger.spent) == before
        and not ledger.allows(1e-12)
        and ledger.allows(0.0),
        "A charge that was refused changed the ledger, or its error has other figures.",
        _KEEP,
    )
    small = make_ledger(2.0)
    # Added one by one as doubles, each of them is lost beside 1.
    for charge in [1.0] + [2.0**-58] * 64:
        small.charge(_event(charge))
    rule.require(
        small.spent == 1.0 + 2.0**-52,
        f"64 charges of 2**-58 after one of 1 vanish: {small.spent!r} is spent.",
        "sum charges as fractions, and round the sum once.",
    )


def _check_once(ledger: Ledger) -> None:
    rule = Rule("once")
    event = _event(0.25, key="answer 1")
    first, again = ledger.charge(event), ledger.charge(event)
    rule.require(
        (first, again, ledger.spent) == (True, False, 0.25) and ledger.events == (event,),
        f"Charging one event twice gives {first}, {again} and {ledger.spent!r} spent.",
        "look the key up in the transaction that writes it.",
    )
    rule.require(
        ledger.find("answer 1") == event and ledger.find("answer 2") is None,
        "find does not give back the event that was charged.",
        "store the whole event.",
    )
    for change in ({"charge": 0.5}, {"n_outputs": 6}):
        rule.refused(
            LedgerMismatchError,
            f"A second event under one key, with another {next(iter(change))}",
            lambda change=change: ledger.charge(  # type: ignore[misc]
                _event(**{"charge": 0.25, "key": "answer 1"} | change)
            ),
        )


def _check_types(ledger: Ledger) -> None:
    rule = Rule("types")
    for name, call in {
        "an event in another unit": lambda: ledger.charge(_event(0.1, unit="renyi")),
        "a negative charge": lambda: ledger.charge(_event(-0.1)),
        "a ledger's own kind": lambda: ledger.charge(_event(0.1, kind="reservation")),
        "a reservation's key": lambda: ledger.charge(_event(0.1, key="x/closed")),
        "no event": lambda: ledger.charge("event"),  # type: ignore[arg-type]
        "a note that is a number": lambda: ledger.reserve(0.1, note=2026),  # type: ignore[arg-type]
        "a negative time": lambda: ledger.reserve(0.1, seconds=-1.0),
        "no amount": lambda: ledger.reserve(0.0),
    }.items():
        rule.refused(PacsklearnError, f"For {name}", call)
    rule.require(
        ledger.events == () and ledger.spent == 0,
        "A call that was refused changed the ledger.",
        _KEEP,
    )
    # Beyond Latin-1 and beyond two bytes, and with quotes for a store that builds its own SQL.
    odd = _event(0.0, key="schlüssel 鍵 🗝", kind="kind 'quoted'")
    ledger.charge(odd)
    rule.require(
        ledger.events == (odd,), "A text does not come back as it is.", "store Unicode texts."
    )


def _check_reservations(ledger: Ledger) -> None:
    rule = Rule("reservations")
    outer = ledger.reserve(0.75, note="search")
    inner = outer.reserve(0.5)
    inner.charge(_event(0.125))
    figures = (ledger.spent, ledger.remaining, outer.spent, outer.ceiling, inner.remaining)
    rule.require(
        figures == (0.75, 0.25, 0.5, 0.75, 0.375) and outer.note == "search",
        f"Reservations of 0.75 and 0.5 with 0.125 spent have the figures {figures}.",
        "charge a reservation to the account it is made in, at once.",
    )
    rule.refused(
        BudgetExhaustedError,
        "A charge that the reservation cannot bear",
        lambda: inner.charge(_event(0.5)),
    )
    returned = [outer.release_unspent(), inner.release_unspent(), inner.release_unspent()]
    rule.require(
        returned == [0.25, 0.375, 0.0] and ledger.spent == 0.125 and inner.is_closed,
        f"Closing both gives back {returned}, and {ledger.spent!r} stays spent.",
        "give back what was never charged, once, to the account above that is open.",
    )
    rule.refused(
        LedgerError,
        "A charge to a closed reservation",
        lambda: inner.charge(_event(0.0)),
    )


def _check_expiry(ledger: Ledger) -> None:
    rule = Rule("reservations")
    for seconds in (0.25, 1.0, 4.0, 16.0):  # on a busy machine a short time is over before a charge
        short = ledger.reserve(0.75, seconds=seconds)
        with suppress(LedgerError):
            short.charge(_event(0.25))
            break
    lasting = ledger.reserve(0.125, seconds=1e6)
    time.sleep(seconds + 0.05)
    rule.require(
        ledger.allows(0.625) and short.is_closed and not lasting.is_closed,
        "A reservation whose time is over keeps its budget.",
        "close such reservations before the next charge.",
    )
    rule.refused(
        LedgerError, "A charge after the time is over", lambda: short.charge(_event(0.125))
    )
    ledger.charge(_event(0.625))
    rule.require(
        ledger.spent == 1.0,
        f"After 0.25 + 0.125 + 0.625 there is {ledger.spent!r} spent.",
        "give back what was not spent, and no more.",
    )


def _check_owners(make_ledger: Callable[..., Ledger]) -> None:
    rule = Rule("owners")
    ledger = make_ledger(1.0, per_user=0.5, per_project=0.625)
    rule.refused(LedgerError, "A charge without a user", lambda: ledger.charge(_event(0.1)))
    anna = ledger.on_behalf_of(user="anna", project="trial")
    ben = ledger.on_behalf_of(user="ben", project="trial")
    anna.reserve(0.5).charge(_event(0.25))
    figures = (anna.remaining, ben.remaining, ledger.spent, anna.allows(0.125), ben.allows(0.125))
    rule.require(
        figures == (0.0, 0.125, 0.5, False, True),
        f"After anna's reservation of 0.5 of a project's 0.625 the figures are {figures}.",
        "hold every charge against the ledger's, the user's and the project's ceiling.",
    )
    for who, account in (("user", anna), ("project", ben)):
        rule.refused(
            BudgetExhaustedError,
            f"A charge above the ceiling of a {who}",
            lambda account=account: account.charge(_event(0.25)),  # type: ignore[misc]
        )
    ben.on_behalf_of(project="other").charge(_event(0.5))
    rule.require(ledger.spent == 1.0, "What fits is refused.", _KEEP)


def _check_handle(ledger: Ledger) -> None:
    for copied in (copy.copy, copy.deepcopy):
        copied(ledger).charge(_event(0.25))
    Rule("handle").require(
        ledger.spent == 0.5 and copy.deepcopy(ledger) == ledger,
        "A copy of the ledger is an account of its own.",
        "let copies be handles to the same account.",
    )


def _check_concurrency(ledger: Ledger, clients: int, requests: int) -> None:
    barrier = Barrier(clients)

    def client(number: int) -> list[str]:
        granted = []
        barrier.wait()
        for request in range(requests):
            # Every other key is asked for by two clients.
            key = f"{number // 2 if request % 2 else number} {request} {request % 2}"
            try:
                if ledger.charge(_event(1.0, key=key)):
                    granted.append(key)
            except BudgetExhaustedError:
                continue
        return granted

    with ThreadPoolExecutor(clients) as pool:
        granted = [key for keys in pool.map(client, range(clients)) for key in keys]
    recorded = [event.key for event in ledger.events]
    Rule("concurrency").require(
        len(granted) == 3 and sorted(granted) == sorted(recorded) and ledger.spent == 3.0,
        f"Under a ceiling of 3, {clients} clients with {requests} requests each were granted "
        f"{len(granted)}, and {len(recorded)} are recorded.",
        _LOCK,
    )
