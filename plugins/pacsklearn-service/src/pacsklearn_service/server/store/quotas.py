"""What each user and each project may spend of a data set, and what they have been told."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from fractions import Fraction
from math import inf
from typing import Any, Final, NamedTuple, final

from pacsklearn.exceptions import LedgerMismatchError
from pacsklearn.kernel.ledger.event import ledger_text
from pacsklearn.kernel.ledger.exact_sum import exact, fits, largest_refund, nearest
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.store.connection import Connection

_LONGEST: Final = 7 * 86400.0
NOT_OFFERED: Final = (
    "There is no published model of this name and version that you have a quota for; the curator "
    "gives one."
)
"""To who has none, whether or not there is such a model."""
_WHOSE: Final = {
    "user": "quota of this user for the data set",
    "project": "quota that this project's users share",
    "": "reservation",
}


class Quota(NamedTuple):
    """One account of a user or a project, or a part of a user's that is set aside.

    Parameters
    ----------
    kind, name : str
        Whose it is.
    reservation : str
        Which part it is; empty for the quota itself.
    ceiling : float
    spent : Fraction
    note : str
    created, expires : float
        Seconds since 1970; a reservation pays nothing after its end.
    """

    kind: str
    name: str
    reservation: str
    ceiling: float
    spent: Fraction
    note: str
    created: float
    expires: float

    @property
    def is_open(self) -> bool:
        """Whether it still pays."""
        return self.expires > time.time()

    @property
    def remaining(self) -> float:
        """Nats left, rounded down."""
        return largest_refund(self.ceiling, exact(self.spent))

    @property
    def unspent(self) -> int:
        """What is left, in units of 2**-1074; nothing of what pays no more."""
        return max(exact(self.ceiling) - exact(self.spent), 0) if self.is_open else 0

    def facts(self) -> dict[str, Any]:
        """Return what a reservation's owner is told.

        What the owner did with it, and nothing else.
        """
        return {
            "id": self.reservation,
            "amount": self.ceiling,
            "spent": float(self.spent),
            "remaining": self.remaining,
            "note": self.note,
        }


class Standing(NamedTuple):
    """Where a user stands; what is spent, held and left makes up the quota.

    Parameters
    ----------
    quota, spent : float
    reserved : float
        Held by the user's own open reservations.
    remaining : float
        Nats that may be asked for without any of them.
    """

    quota: float
    spent: float
    reserved: float
    remaining: float


@final
class Quotas:
    """Accounts of one data set, inside a transaction.

    Parameters
    ----------
    connection : Connection
    dataset : str

    Notes
    -----
    A reservation holds part of its owner's quota, which is granted out of the data set's budget
    already: the data set's ledger knows nothing of it. It is debited the prices that its owner
    pays. Were it charged what the data set is charged, it would tell which rows others have asked.
    """

    def __init__(self, connection: Connection, dataset: str) -> None:
        self._connection, self._dataset = connection, dataset
        self._known: dict[tuple[str, str], dict[str, Quota]] = {}
        self._changed: dict[tuple[str, str, str], Quota] = {}

    def get(self, kind: str, name: str, reservation: str = "") -> Quota | None:
        """Return the account as it is now; None where there is none."""
        if (kind, name) not in self._known:
            found = self._select("AND kind = ? AND name = ?", kind, name)
            self._known[kind, name] = {each.reservation: each for each in found}
        return self._known[kind, name].get(reservation)

    def reservations(self, user: str) -> list[Quota]:
        """Return the reservations of a user that still pay, in the order they were made."""
        self._of("user", user)
        known = self._known["user", user].values()
        return [each for each in known if each.reservation and each.is_open]

    def reservation(self, user: str, id_: str) -> Quota:
        """Return one reservation of a user, open or not.

        Raises
        ------
        Problem
            When the user has none of this name: another's looks as one that never was.
        """
        found = self.get("user", user, id_) if id_ else None
        if found is None:
            raise Problem("not-found", "You have no reservation of this name for this model.")
        return found

    def debit(
        self, user: str, project: str | None, price: float, reservation: str | None = None
    ) -> float:
        """Debit a user, the project if one is named, and the reservation that pays.

        Returns
        -------
        float
            What is left of the user's quota beside the user's reservations.

        Raises
        ------
        Problem
            When there is no account, or too little is left; nothing changes then.
        """
        own = self._of("user", user)
        # What reservations hold pays for nothing else.
        held = self._held(user) if reservation is None else 0
        paying = [(own, held)]
        if reservation is not None:
            paying.insert(0, (self.reservation(user, reservation), 0))
        if project is not None:
            paying.append((self._of("project", project), 0))
        for each, beside in paying if price > 0 else ():
            if not (each.is_open and fits(exact(each.spent) + beside, price, each.ceiling)):
                raise Problem(
                    "quota-exhausted",
                    f"The {_WHOSE['' if each.reservation else each.kind]} does not cover the "
                    "request; nothing was charged. Rows that you have asked before are free.",
                )
        for each, _ in paying:
            self._add(each, price)
        return self.standing(user).remaining

    def refund(
        self, user: str, project: str | None, price: float, reservation: str | None = None
    ) -> None:
        """Give back what was debited for a request that was refused after all."""
        debited = ("user", user, ""), ("user", user, reservation), ("project", project, "")
        for kind, name, part in debited:
            own = None if name is None or part is None else self.get(kind, name, part)
            if own is not None:
                self._add(own, -price)

    def standing(self, user: str) -> Standing:
        """Return where a user stands."""
        own, held = self._of("user", user), self._held(user)
        left = largest_refund(own.ceiling, exact(own.spent) + held)
        return Standing(own.ceiling, float(own.spent), nearest(held), left)

    def reserve(self, user: str, amount: float, seconds: float, note: str) -> Quota:
        """Set part of a user's quota aside."""
        own, now = self._of("user", user), time.time()
        if not fits(exact(own.spent) + self._held(user), amount, own.ceiling):
            raise Problem(
                "quota-exhausted",
                "amount must be within what your quota leaves beside your other reservations.",
            )
        if not 0 < seconds <= _LONGEST:
            raise Problem("invalid", f"seconds must be above 0 and at most {_LONGEST:g}.")
        try:
            note = ledger_text("note", note)
        except LedgerMismatchError as error:  # a text that a database cannot hold
            raise Problem("invalid", str(error)) from None
        # No request is under way for so long that one of these could still be given back to.
        self._connection.change(
            "DELETE FROM service_accounts WHERE name = ? AND expires < ?", user, now - _LONGEST
        )
        id_ = secrets.token_hex(16)
        made = Quota("user", user, id_, amount, Fraction(0), note, now, now + seconds)
        self._insert(made)
        return made

    def close(self, user: str, id_: str) -> float:
        """Let a reservation pay no more; what it gave back, 0 when it was closed before."""
        own = self.reservation(user, id_)
        if not own.is_open:
            return 0.0
        self._update("expires", 0.0, own)  # by no clock that is set back does it begin to pay again
        return own.remaining

    def set_ceiling(self, kind: str, name: str, ceiling: float) -> Quota:
        """Open an account, or change its ceiling; how it is then."""
        own = self.get(kind, name)
        if own is None:
            self._insert(Quota(kind, name, "", ceiling, Fraction(0), "", time.time(), inf))
        else:
            self._update("ceiling", ceiling, own)
        self._known.pop((kind, name), None)
        return self._of(kind, name)

    def check_covered(self, budgets: Mapping[str, tuple[float, float]]) -> None:
        """Refuse quotas that could be used up by other users before a user has spent them.

        Parameters
        ----------
        budgets : mapping of str to (float, float)
            What was charged and the ceiling of everything that a user's request is charged to,
            while nothing is on its way there. Accounts of projects are looked up here.

        Raises
        ------
        Problem
            Names the first budget that does not cover what the users may still spend.

        Notes
        -----
        A request is charged at most its price, and its price is debited to its user: so what all
        users may still spend bounds every charge to come, in any order.
        """
        accounts = self.all()
        open_ = sum(each.unspent for each in accounts if each.kind == "user")
        shared = {
            f"the project {each.name!r}": (float(each.spent), each.ceiling)
            for each in accounts
            if each.kind == "project"
        }
        for name, (spent, ceiling) in (dict(budgets) | shared).items():
            if nearest(exact(spent) + open_) > ceiling:
                raise Problem(
                    "conflict",
                    f"The users' quotas leave {nearest(open_):.6g} nats to be spent, and {name} "
                    f"has {largest_refund(ceiling, exact(spent)):.6g} of {ceiling:.6g} left. A "
                    "user within a quota could be refused because of what others spent. Give "
                    "smaller quotas, or send overcommit=true, which your users should know of.",
                )

    def check_open(self, user: str, project: str | None) -> None:
        """Refuse a user, or a project, that has no account.

        Raises
        ------
        Problem
        """
        self._of("user", user)
        if project is not None:
            self._of("project", project)

    @staticmethod
    def of_user(connection: Connection, user: str) -> set[str]:
        """Return the data sets that a user has an account of."""
        question = "SELECT dataset FROM service_accounts WHERE kind = 'user' AND name = ?"
        return {row["dataset"] for row in connection.ask(question, user)}

    def flush(self) -> None:
        """Write what was debited."""
        for each in self._changed.values():
            self._update("spent", str(each.spent), each)
        self._changed.clear()

    def all(self) -> list[Quota]:
        """Return every quota of the data set."""
        return self._select("AND reservation = ''")

    def _held(self, user: str) -> int:
        return sum(each.unspent for each in self.reservations(user))

    def _add(self, quota: Quota, price: float) -> None:
        # Exact: sums of a million doubles drift from what was charged.
        after = quota._replace(spent=quota.spent + Fraction(price))
        self._known[quota.kind, quota.name][quota.reservation] = after
        self._changed[quota[:3]] = after

    def _select(self, which: str, *values: str) -> list[Quota]:
        rows = self._connection.ask(
            f"SELECT {', '.join(Quota._fields)} FROM service_accounts "  # noqa: S608 - the columns are ours
            f"WHERE dataset = ? {which} ORDER BY kind, name, created, reservation",
            self._dataset,
            *values,
        )
        return [Quota(**row | {"spent": Fraction(row["spent"])}) for row in rows]

    def _of(self, kind: str, name: str) -> Quota:
        quota = self.get(kind, name)
        if quota is None and kind == "user":
            raise Problem("not-found", NOT_OFFERED)
        if quota is None:
            raise Problem(
                "forbidden",
                "Your project has no quota for the data set; the curator gives one.",
            )
        return quota

    def _insert(self, quota: Quota) -> None:
        own = quota._asdict() | {"spent": str(quota.spent), "dataset": self._dataset}
        self._connection.insert("service_accounts", **own)

    def _update(self, what: str, value: str | float, own: Quota) -> None:
        which = dict(zip(Quota._fields[:3], own[:3], strict=True))
        self._connection.update("service_accounts", {what: value}, dataset=self._dataset, **which)
