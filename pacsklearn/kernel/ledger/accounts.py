"""Arithmetic of a ledger: ceilings, reservations and what each of them was charged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

from pacsklearn._validation import check_budget
from pacsklearn.exceptions import BudgetExhaustedError, LedgerError, LedgerMismatchError
from pacsklearn.kernel.ledger.event import Bookkeeping, Event, ledger_text
from pacsklearn.kernel.ledger.exact_sum import (
    exact,
    exact_of,
    exact_text,
    fits,
    largest_refund,
    nearest,
)

_RESERVED_KINDS = frozenset({"reservation", "reservation-closed", "reservation-returned", "repair"})
_RESERVED_ENDINGS = ("/closed", "/returned")


def check_event(event: Event, unit: str) -> None:
    """Refuse what no ledger of ``unit`` may be charged."""
    if not isinstance(event, Event):
        raise LedgerMismatchError(f"event must be an Event, got {type(event).__name__}.")
    if event.unit != unit:
        raise LedgerMismatchError(
            f"This ledger counts {unit}, the event is in {event.unit}; units are never "
            "added. Use a ledger of the event's unit."
        )
    if event.charge < 0:
        raise LedgerMismatchError(
            f"An event's charge must be finite and >= 0, got {event.charge!r}."
        )
    if event.kind in _RESERVED_KINDS:
        raise LedgerMismatchError(
            f"Events of the kind {event.kind!r} are written by the ledger itself; call reserve() "
            "or release_unspent()."
        )
    if event.key.endswith(_RESERVED_ENDINGS):
        raise LedgerMismatchError(
            f"An event's key may not end in {' or '.join(map(repr, _RESERVED_ENDINGS))}: the "
            "ledger writes such keys itself when a reservation is closed."
        )


@final
@dataclass(frozen=True)
class LedgerTerms:
    """What a ledger was founded with; never changed.

    Parameters
    ----------
    ceiling : float
        Most that may ever be charged.
    unit : str
    per_user, per_project : float, optional
        Most that each user, and each project, may be charged; every charge then names its own.
    """

    ceiling: float
    unit: str
    per_user: float | None = None
    per_project: float | None = None

    @classmethod
    def checked(
        cls, ceiling: float, unit: str, per_user: float | None, per_project: float | None
    ) -> LedgerTerms:
        """Return the terms from a user's arguments."""
        return cls(
            check_budget(budget=ceiling, name="ceiling"),
            ledger_text("unit", unit),
            None if per_user is None else check_budget(budget=per_user, name="per_user"),
            None if per_project is None else check_budget(budget=per_project, name="per_project"),
        )


@final
class Posting(NamedTuple):
    """An event, and the account it is charged to.

    Parameters
    ----------
    account : str
        Empty for the ledger itself, else the key of a reservation.
    event : Event
    note : str
    user, project : str, optional
        On whose behalf.
    expires : str, optional
        Time in UTC after which a reservation may be closed by anybody.
    """

    account: str
    event: Event
    note: str = ""
    user: str | None = None
    project: str | None = None
    expires: str | None = None

    @property
    def exact_charge(self) -> int:
        """Charge of the event, in units of 2**-1074."""
        return exact(self.event.charge)


@final
class Limit(NamedTuple):
    """A ceiling that a charge has to fit under, and what was charged under it.

    Parameters
    ----------
    name : str
        Empty for the account itself, else the user or the project.
    total : int
        In units of 2**-1074.
    ceiling : float
    """

    name: str
    total: int
    ceiling: float

    def check(self, charge: float) -> None:
        """Raise BudgetExhaustedError when the charge does not fit."""
        if not fits(self.total, charge, self.ceiling):
            raise BudgetExhaustedError(nearest(self.total), charge, self.ceiling, self.name)


def _owners(posting: Posting) -> list[tuple[str, str]]:
    """Return the user and project that a posting counts for."""
    if posting.account or posting.user is posting.project is None:
        return []
    owners = (("user", posting.user), ("project", posting.project))
    return [(kind, name) for kind, name in owners if name is not None]


def _made_facts(made: Posting) -> list[str | None]:
    return [made.account, made.note, made.user, made.project, made.expires]


@final
@dataclass
class _Account:
    ceiling: float
    made: Posting | None  # None for the ledger itself, which is never closed
    total: int = 0
    closed: bool = False


@final
class Accounts:
    """The ledger and its reservations, added up from their postings alone.

    Parameters
    ----------
    terms : LedgerTerms
    """

    def __init__(self, terms: LedgerTerms) -> None:
        self.terms = terms
        self._accounts = {"": _Account(terms.ceiling, None)}
        self._owned: dict[tuple[str, str], int] = {}
        self._returned: set[str] = set()
        self._expiries: dict[str, str] = {}  # of open reservations
        of_each = (("user", terms.per_user), ("project", terms.per_project))
        self._of_each = [(kind, most) for kind, most in of_each if most is not None]

    def total(self, account: str) -> int:
        """Return the exact sum of an account's charges, in units of 2**-1074."""
        return self._of(account).total

    def is_closed(self, account: str) -> bool:
        """Return whether a reservation was closed."""
        return self._of(account).closed

    def ceiling(self, account: str) -> float:
        """Return the ceiling of an account; what was spent for a closed one."""
        entry = self._of(account)
        return nearest(entry.total) if entry.closed else entry.ceiling

    def made(self, account: str) -> Posting:
        """Return the posting that made a reservation."""
        made = self._of(account).made
        assert made is not None
        return made

    def open_reservations(self, account: str) -> list[str]:
        """Return the keys of an account's reservations that were not closed."""
        return [
            key
            for key, each in self._accounts.items()
            if each.made is not None and each.made.account == account and not each.closed
        ]

    def limits(self, account: str, user: str | None, project: str | None) -> list[Limit]:
        """Return every ceiling that a charge to the account has to fit under."""
        entry = self._of(account)
        limits = [Limit("", entry.total, entry.ceiling)]
        # A reservation's whole amount was charged to its user and project when it was made.
        for kind, most in () if account else self._of_each:
            name = user if kind == "user" else project
            if name is not None:
                limits.append(Limit(f"{kind} {name!r}", self.sum_of(kind, name), most))
        return limits

    def check(self, posting: Posting) -> None:
        """Refuse a charge that the account cannot bear.

        Raises
        ------
        BudgetExhaustedError
        LedgerError
            When the reservation was closed, or the charge does not say whose it is.
        """
        if self._of(posting.account).closed:
            raise LedgerError("The reservation is closed and takes no more charges.")
        for kind, _ in () if posting.account or posting.event.kind == "repair" else self._of_each:
            if getattr(posting, kind) is None:
                raise LedgerMismatchError(
                    f"This ledger has a ceiling for each {kind}: say whose charge it is, with "
                    f"ledger.on_behalf_of({kind}=...)."
                )
        # All of them, before anything is added: a charge is made under every ceiling or not at all.
        for limit in self.limits(posting.account, posting.user, posting.project):
            limit.check(posting.event.charge)

    def wrong(self, posting: Posting) -> str:
        """Return the reason why the posting may not stand in a ledger, or an empty text."""
        event = posting.event
        if event.unit != self.terms.unit:
            return "is in another unit"
        if posting.account not in self._accounts:
            return "belongs to a reservation that was never made"
        if self._accounts[posting.account].closed:
            return "was charged to a closed reservation"
        if event.kind == "reservation-returned":
            return self._wrong_return(posting)
        if event.charge < 0:
            return "has a negative charge"
        try:
            self.check(posting)
        except BudgetExhaustedError:
            return "passes the ceiling"
        except LedgerError:
            return "does not say whose charge it is"
        return ""

    def add(self, posting: Posting) -> None:
        """Add a posting that was checked."""
        event, account = posting.event, self._count(posting, posting.exact_charge)
        if event.kind == "reservation":
            self._accounts[event.key] = _Account(event.charge, posting)
            if posting.expires is not None:
                self._expiries[event.key] = posting.expires
        elif event.kind == "reservation-closed":
            account.closed = True
            self._expiries.pop(posting.account, None)
        elif event.kind == "reservation-returned":
            self._returned.add(event.key.removesuffix("/returned"))

    def remove(self, posting: Posting) -> None:
        """Take back the posting that was added last: sums are exact, so nothing is left of it."""
        event, account = posting.event, self._count(posting, -posting.exact_charge)
        if event.kind == "reservation":
            del self._accounts[event.key]
            self._expiries.pop(event.key, None)
        elif event.kind == "reservation-closed":
            account.closed = False
            expires = self.made(posting.account).expires
            if expires is not None:
                self._expiries[posting.account] = expires
        elif event.kind == "reservation-returned":
            self._returned.discard(event.key.removesuffix("/returned"))

    def _count(self, posting: Posting, amount: int) -> _Account:
        account = self._of(posting.account)
        account.total += amount
        for owner in _owners(posting):
            self._owned[owner] = self._owned.get(owner, 0) + amount
        return account

    def stated(self, posting: Posting) -> dict[str, str]:
        """Return the exact sums that a posting counted in, as ledgers write them."""
        sums = {"ledger": exact_text(self._accounts[""].total)}
        if posting.account:
            sums["account"] = exact_text(self._of(posting.account).total)
        for kind, name in _owners(posting):
            sums[kind] = exact_text(self.sum_of(kind, name))
        return sums

    def sum_of(self, kind: str, name: str) -> int:
        """Return the exact sum of the ledger, of an account, a user or a project."""
        if kind in ("ledger", "account"):
            return self._accounts[name].total if name in self._accounts else 0
        return self._owned.get((kind, name), 0)

    def open_keys(self) -> list[str]:
        """Return the keys of all reservations that were not closed."""
        return [key for key, each in self._accounts.items() if each.made and not each.closed]

    @property
    def size(self) -> int:
        """Accounts and owners whose sums are kept."""
        return len(self._accounts) + len(self._owned)

    def state(self) -> dict[str, Any]:
        """Return all sums, for a checkpoint of a ledger: :meth:`resumed` goes on from them."""
        return {
            "accounts": [
                [key, exact_text(each.total), each.closed, key in self._returned, each.ceiling]
                + ([] if each.made is None else _made_facts(each.made))
                for key, each in self._accounts.items()
            ],
            "owned": sorted(
                [*owner, exact_text(total)] for owner, total in self._owned.items() if total
            ),
        }

    @classmethod
    def resumed(cls, terms: LedgerTerms, state: dict[str, Any]) -> Accounts:
        """Return the accounts that :meth:`state` stated."""
        accounts = cls(terms)
        for key, total, closed, returned, ceiling, *made in state["accounts"]:
            posting = None
            if made:
                account, note, user, project, expires = made
                event = Bookkeeping("reservation", ceiling, terms.unit, key=key)
                posting = Posting(account, event, note, user, project, expires)
                if expires is not None and not closed:
                    accounts._expiries[key] = expires
            if returned:
                accounts._returned.add(key)
            accounts._accounts[key] = _Account(ceiling, posting, exact_of(total), closed)
        accounts._owned = {(kind, name): exact_of(total) for kind, name, total in state["owned"]}
        return accounts

    def closing(self, account: str) -> tuple[Posting, Posting]:
        """Return the postings that close a reservation and give back what was never charged."""
        # What was set aside was charged to the account above: giving back no more than the rest
        # keeps its sum at or above what was spent under it.
        entry, made = self._of(account), self.made(account)
        refund = largest_refund(entry.ceiling, entry.total)
        unit = self.terms.unit
        return (
            Posting(account, Bookkeeping("reservation-closed", 0.0, unit, key=f"{account}/closed")),
            Posting(
                self._heir(account),
                Bookkeeping("reservation-returned", 0.0 - refund, unit, key=f"{account}/returned"),
                user=made.user,
                project=made.project,
            ),
        )

    def expired(self, time: str) -> list[str]:
        """Open reservations whose time is over, the earliest first."""
        # A copy: a ledger in memory is read without a lock, and another thread may charge.
        due = [(each, key) for key, each in list(self._expiries.items()) if each <= time]
        return [key for _, key in sorted(due)]

    def _heir(self, account: str) -> str:
        # A closed account gave this reservation back as spent; the one above it has not.
        heir = self.made(account).account
        while self._of(heir).closed:
            heir = self.made(heir).account
        return heir

    def _wrong_return(self, posting: Posting) -> str:
        key = posting.event.key.removesuffix("/returned")
        reservation = self._accounts.get(key)
        if reservation is None or not reservation.closed or key in self._returned:
            return "returns what was not given back"
        made = self.made(key)
        owners = (posting.user, posting.project) == (made.user, made.project)
        if posting.account != self._heir(key) or not owners:
            return "returns a reservation to an account it did not come from"
        # A refund is a negative charge: more than was left would make room that nobody paid for.
        unspent = exact(reservation.ceiling) - reservation.total
        if not 0 <= -posting.exact_charge <= max(unspent, 0):
            return "returns more than was left"
        return ""

    def _of(self, account: str) -> _Account:
        entry = self._accounts.get(account)
        if entry is None:
            raise LedgerError(
                "The reservation is not in the ledger: the database is an older copy, or another "
                "one."
            )
        return entry
