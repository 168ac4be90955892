"""Rows of one dataset, read and appended inside an open transaction."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

from sqlalchemy import Connection, bindparam, insert, select

from pacsklearn.accounting.entry import Entry, Founding, Position, event_text, is_sound, now
from pacsklearn.accounting.tables import DATASETS, ENTRIES
from pacsklearn.core.event import Event
from pacsklearn.exceptions import LedgerCorruptedError, LedgerError, LedgerMismatchError

__all__ = ["AccountState", "Book"]

_COLUMN = ENTRIES.c
_ROWS = select(ENTRIES).where(_COLUMN.dataset == bindparam("dataset"))
_OF_ACCOUNT = _ROWS.where(_COLUMN.account == bindparam("account"))
_HEAD = _ROWS.order_by(_COLUMN.sequence.desc()).limit(1)
_LAST_OF_ACCOUNT = _OF_ACCOUNT.order_by(_COLUMN.sequence.desc()).limit(1)
_BY_KEY = _ROWS.where(_COLUMN.key == bindparam("key"))
_BY_SEQUENCE = _ROWS.where(_COLUMN.sequence == bindparam("sequence"))
_AFTER = _COLUMN.sequence > bindparam("after")
_ROWS_AFTER = _ROWS.where(_AFTER).order_by(_COLUMN.sequence)
_OF_ACCOUNT_AFTER = _OF_ACCOUNT.where(_AFTER).order_by(_COLUMN.sequence)
_RESERVATIONS = _OF_ACCOUNT.where(_COLUMN.kind == "reservation").order_by(_COLUMN.sequence)
_FOUNDING = select(DATASETS).where(DATASETS.c.name == bindparam("dataset"))
_FOUND = insert(DATASETS)
_APPEND = insert(ENTRIES)


@final
@dataclass(frozen=True)
class AccountState:
    """Where an account stands.

    Parameters
    ----------
    amount : float
        Its ceiling, or what was reserved for it.
    total : Fraction
        Exact sum of its charges.
    closed : bool
    parent : str
        Account that a reservation was made in; empty for the ledger itself, which is never closed.
    note : str
    """

    amount: float
    total: Fraction
    closed: bool
    parent: str
    note: str


@final
class Book:
    """One dataset of an open database.

    Parameters
    ----------
    connection : Connection
        Inside a transaction; an immediate one to append.
    dataset : str
    """

    def __init__(self, connection: Connection, dataset: str) -> None:
        self._connection = connection
        self._dataset = dataset
        self._founding: Founding | None = None

    def founding(self) -> Founding | None:
        """First link of the chain, None when the database has no such dataset."""
        if self._founding is None:
            row = self._connection.execute(_FOUNDING, {"dataset": self._dataset}).one_or_none()
            if row is None:
                return None
            self._founding = Founding(*row)
            if not is_sound(self._founding):
                raise LedgerCorruptedError(0, "(the account) is not the one that was founded")
        return self._founding

    def found(self, ceiling: float, unit: str) -> Founding:
        """Write the first link of the chain."""
        founding = Founding(self._dataset, ceiling, unit, now(), secrets.token_hex(16))
        founding = replace(founding, hash=founding.digest())
        self._connection.execute(_FOUND, vars(founding))
        return founding

    def position(self) -> Position:
        """Place of the last row of the dataset."""
        head = self._one(_HEAD)
        if head is None:
            return Position(0, self._founded().hash)
        return Position(head.sequence, head.hash)

    def copy(self, row: Entry | Founding) -> None:
        """Add a row of another database as it stands."""
        table = _FOUND if isinstance(row, Founding) else _APPEND
        self._connection.execute(table, vars(row))

    def find(self, key: str) -> Entry | None:
        """Row with the idempotency key."""
        return self._one(_BY_KEY, key=key)

    def holds(self, position: Position) -> bool:
        """Whether the chain passes through ``position``."""
        if position.sequence == 0:
            return self._founded().hash == position.hash
        row = self._one(_BY_SEQUENCE, sequence=position.sequence)
        return row is not None and row.hash == position.hash

    def state(self, account: str) -> AccountState:
        """Where an account stands, from its last row."""
        parent = note = ""
        if account:
            made = self.find(account)
            if made is None or made.kind != "reservation":
                raise LedgerError(
                    "The reservation is not in the ledger: the database is an older copy, or "
                    "another one."
                )
            amount, parent, note = made.charge, made.account, made.note
        else:
            amount = self._founded().ceiling
        last = self._one(_LAST_OF_ACCOUNT, account=account)
        if last is None:
            return AccountState(amount, Fraction(0), closed=False, parent=parent, note=note)
        closed = last.kind == "reservation-closed"
        return AccountState(amount, last.exact_total, closed=closed, parent=parent, note=note)

    def append(self, account: str, event: Event, total: Fraction, note: str = "") -> None:
        """Add a row after the last one; whether it fits is the caller's question."""
        position = self.position()
        entry = Entry(
            dataset=self._dataset,
            sequence=position.sequence + 1,
            account=account,
            key=event.key,
            kind=event.kind,
            charge=float(event.charge),
            unit=event.unit,
            event=event_text(event),
            note=note,
            total=str(total),
            created=now(),
            previous=position.hash,
        )
        entry = replace(entry, hash=entry.digest())
        self._connection.execute(_APPEND, vars(entry))
        # A value that the database keeps in another type would corrupt the chain for good.
        where = {"dataset": self._dataset, "sequence": entry.sequence}
        stored = Entry(*self._connection.execute(_BY_SEQUENCE, where).one())
        if stored.hash != entry.hash or not is_sound(stored):
            raise LedgerMismatchError(
                "The event cannot be stored as it is; nothing was charged. Give texts and numbers "
                "of Python's own types."
            )

    def entries(self, account: str | None = None, after: int = 0) -> Iterator[Entry]:
        """Rows by sequence number, of one account or of all; as they stand, unchecked."""
        query = _ROWS_AFTER if account is None else _OF_ACCOUNT_AFTER
        values = {"dataset": self._dataset, "account": account or "", "after": after}
        for row in self._connection.execute(query.execution_options(yield_per=1000), values):
            yield Entry(*row)

    def reservations(self, account: str) -> list[Entry]:
        """Rows that made the account's reservations."""
        values = {"dataset": self._dataset, "account": account}
        return [Entry(*row) for row in self._connection.execute(_RESERVATIONS, values)]

    def _founded(self) -> Founding:
        founding = self.founding()
        if founding is None:
            raise LedgerError(f"The database has no dataset {self._dataset!r}.")
        return founding

    def _one(self, query: Any, **values: object) -> Entry | None:
        values["dataset"] = self._dataset
        row = self._connection.execute(query, values).one_or_none()
        if row is None:
            return None
        entry = Entry(*row)
        if not is_sound(entry):
            raise LedgerCorruptedError(
                entry.sequence, "does not have the content it was written with"
            )
        return entry
