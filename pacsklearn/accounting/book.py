"""Rows of one data set, read, verified and appended inside an open transaction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

from sqlalchemy import Connection

from pacsklearn.accounting.chain import Chain
from pacsklearn.accounting.entry import (
    Entry,
    Founding,
    Position,
    event_from_text,
    event_text,
    is_sound,
    without_password,
)
from pacsklearn.accounting.rows import FEW, open_rows
from pacsklearn.accounting.schema import bring_up, check_version
from pacsklearn.core.accounts import Accounts, Posting, exact_text
from pacsklearn.core.event import Event
from pacsklearn.core.ledger_interface import OpenBook
from pacsklearn.exceptions import LedgerCorruptedError, LedgerMismatchError


@final
class Book(OpenBook):
    """A data set whose rows were verified up to the last one.

    Parameters
    ----------
    connection : Connection
        Inside a transaction.
    founding : Founding
        What the handle expects.
    chain : Chain
        Rows that this process verified before; brought up to date.
    write : bool
        Lock the data set.
    where : str
        Name of the database, for messages.
    keys : list of str, optional
        Idempotency keys that will be looked up, for a charge.

    Raises
    ------
    LedgerMismatchError
        When the database holds another ledger, or a newer version's.
    LedgerCorruptedError
        When a row is not what was written.
    """

    def __init__(
        self,
        connection: Connection,
        founding: Founding,
        chain: Chain,
        *,
        write: bool,
        where: str,
        keys: list[str] | None = None,
    ) -> None:
        self._rows = open_rows(connection, founding.name)
        self._dataset = founding.name
        self._chain = chain
        self._pending: dict[str, tuple[Entry, Posting]] = {}
        self._known: dict[str, Entry | None] = {}
        self.is_dirty = True  # until all is verified
        after: list[Entry] | None = None
        if keys is not None:
            first = max(chain.position.sequence - 1, 0)
            (stored, version, self._time), after, entries = self._rows.to_charge(first, keys)
            self._known |= dict.fromkeys(keys) | {entry.key: entry for entry in entries}
        else:
            stored, version, self._time = self._rows.founding(lock=write)
        check_version(version)
        if stored != founding:  # the one expected was checked when the chain began
            if stored is not None and not is_sound(stored):
                raise LedgerCorruptedError(0, "(the account) is not the one that was founded")
            raise LedgerMismatchError(
                f"The database at {without_password(where)} does not hold this ledger any more: it "
                "is another one, or it was founded anew."
            )
        if write:
            bring_up(connection, version)
        self._verify_the_rest(after)
        self.is_dirty = False

    @property
    def accounts(self) -> Accounts:
        return self._chain.accounts

    @property
    def time(self) -> str:
        return self._time

    @property
    def position(self) -> Position:
        """Place of the last row."""
        return self._chain.position

    def find(self, key: str) -> Posting | None:
        if key in self._pending:
            return self._pending[key][1]
        entry = self.entry(key)
        return None if entry is None else entry.posting

    def entry(self, key: str) -> Entry | None:
        """Row with an idempotency key; None for one that this transaction adds."""
        if key not in self._known:
            self._known[key] = next(self._rows.with_keys([key]), None)
        return self._known[key]

    def append(self, posting: Posting) -> None:
        self.is_dirty = True
        event, position = posting.event, self._chain.position
        self._chain.accounts.add(posting)
        entry = Entry(
            dataset=self._dataset,
            sequence=position.sequence + 1,
            account=posting.account,
            key=event.key,
            kind=event.kind,
            charge=event.charge,
            unit=event.unit,
            event=event_text(event),
            note=posting.note,
            total=exact_text(self._chain.accounts.total(posting.account)),
            created=self._time,
            previous=position.hash,
            user_id=posting.user,
            project_id=posting.project,
            expires=posting.expires,
        )
        entry = entry._replace(hash=entry.digest())
        self._chain.add(entry)
        self._pending[event.key] = (entry, posting)

    def flush(self) -> None:
        """Write what was appended."""
        if self._pending:
            self._rows.add([entry for entry, _ in self._pending.values()])

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Rows of all accounts."""
        return self._rows.after(after)

    def events(self, account: str, after: int = 0) -> Iterator[Event]:
        return (event_from_text(entry.event) for entry in self._rows.after(after, account))

    def _verify_the_rest(self, after: list[Entry] | None) -> None:
        position = self._chain.position
        rows = iter(after or ())
        if after is None or len(after) == FEW:
            rows = self._rows.after(max(position.sequence - 1, 0))
        if position.sequence:
            head = next(rows, None)
            if head is None or head.sequence != position.sequence:
                raise LedgerCorruptedError(position.sequence, "is missing")
            if not self._chain.ends_in(head):
                raise LedgerCorruptedError(
                    position.sequence, "does not have the content it was written with"
                )
        for entry in rows:
            self._chain.verify(entry)
