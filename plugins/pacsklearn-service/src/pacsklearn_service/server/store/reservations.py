"""Part of a caller's own quota, set aside for a time."""

from __future__ import annotations

import secrets
import time
from fractions import Fraction
from typing import Any, Final, NamedTuple, final

from pacsklearn.exceptions import LedgerMismatchError
from pacsklearn.kernel.ledger.event import ledger_text
from pacsklearn.kernel.ledger.exact_sum import exact, fits, largest_refund
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.store.connection import Connection

_LONGEST: Final = 7 * 86400.0


class Reserved(NamedTuple):
    """One reservation.

    Parameters
    ----------
    id : str
    user : str
    amount : float
        Nats set aside.
    spent : Fraction
        Prices paid out of it.
    note : str
    expires : float
        Seconds since 1970 after which it pays nothing; 0 once it was released.
    """

    id: str
    user: str
    amount: float
    spent: Fraction
    note: str
    expires: float

    @property
    def is_open(self) -> bool:
        """Whether it still pays."""
        return self.expires > time.time()

    @property
    def remaining(self) -> float:
        """Nats left, rounded down."""
        return largest_refund(self.amount, exact(self.spent))

    @property
    def unspent(self) -> int:
        """What it holds of the quota, in units of 2**-1074."""
        return max(exact(self.amount) - exact(self.spent), 0) if self.is_open else 0

    def pays(self, price: float) -> bool:
        """Whether it is open and covers a price."""
        return self.is_open and fits(exact(self.spent), price, self.amount)

    def facts(self) -> dict[str, Any]:
        """What its owner is told: what the owner did with it, and nothing else."""
        return {
            "id": self.id,
            "amount": self.amount,
            "spent": float(self.spent),
            "remaining": self.remaining,
            "note": self.note,
        }


@final
class Reservations:
    """Reservations in one data set, inside a transaction.

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

    def open(self, user: str) -> list[Reserved]:
        """Those of a user that still pay, in the order they were made."""
        return self._select(user, "expires > ?", time.time())

    def find(self, user: str, id_: str) -> Reserved:
        """One of a user's, open or not.

        Raises
        ------
        Problem
            When the user has none of this name: another's looks as one that never was.
        """
        own = self._select(user, "id = ?", id_)
        if not own:
            raise Problem("not-found", "You have no reservation of this name for this model.")
        return own[0]

    def add(self, user: str, amount: float, seconds: float, note: str) -> Reserved:
        """Write down a new one; whoever calls has seen that the quota covers it."""
        if not 0 < seconds <= _LONGEST:
            raise Problem("invalid", f"seconds must be above 0 and at most {_LONGEST:g}.")
        try:
            note = ledger_text("note", note)
        except LedgerMismatchError as error:  # a text that a database cannot hold
            raise Problem("invalid", str(error)) from None
        now = time.time()
        made = Reserved(secrets.token_hex(16), user, amount, Fraction(0), note, now + seconds)
        own = made._asdict() | {"spent": "0", "dataset": self._dataset, "created": now}
        self._connection.insert("service_reservations", **own)
        return made

    def debit(self, own: Reserved, price: float) -> Reserved:
        """Pay a price out of one, or give it back where it is negative."""
        after = own._replace(spent=own.spent + Fraction(price))
        statement = "UPDATE service_reservations SET spent = ? WHERE id = ?"
        self._connection.change(statement, str(after.spent), own.id)
        return after

    def close(self, own: Reserved) -> float:
        """Let one pay no more; what it gave back to the quota, 0 when it was closed before."""
        self._connection.change("UPDATE service_reservations SET expires = 0 WHERE id = ?", own.id)
        return own.remaining if own.is_open else 0.0

    def _select(self, user: str, which: str, value: str | float) -> list[Reserved]:
        rows = self._connection.ask(
            'SELECT id, "user", amount, spent, note, expires FROM '  # noqa: S608
            'service_reservations WHERE dataset = ? AND "user" = ? '
            f"AND {which} ORDER BY created, id",
            self._dataset,
            user,
            value,
        )
        return [Reserved(**row | {"spent": Fraction(row["spent"])}) for row in rows]
