"""Ledgers in a database: what can be asked of them beyond charging."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self, final

from pacsklearn._validation import check_budget
from pacsklearn.exceptions import LedgerCorruptedError, LedgerMismatchError
from pacsklearn.kernel.ledger.accounts import Posting, largest_refund, nearest
from pacsklearn.kernel.ledger.event import Event, ledger_text
from pacsklearn.kernel.ledger.ledger import BookedLedger, BookedReservation, checked_terms
from pacsklearn.kernel.ledger.log import without_password
from pacsklearn.kernel.ledger.row import Position
from pacsklearn.kernel.ledger.store import Book, LogStore


class SharedAccount(BookedLedger):
    """Handle to an account in a database: every copy and pickle of it is the same account."""

    _store: LogStore

    @property
    def uri(self) -> str:
        """Address of the database, without a password."""
        return without_password(self._store.address)

    @property
    def dataset(self) -> str:
        """Data set whose ceiling this is."""
        return self._store.founding.dataset

    @property
    def per_user(self) -> float | None:
        """Ceiling of each user, if there is one."""
        return self._store.terms.per_user

    @property
    def per_project(self) -> float | None:
        """Ceiling of each project, if there is one."""
        return self._store.terms.per_project

    @property
    def position(self) -> Position:
        """Place of the dataset's last row, reservations included.

        Keep it outside the database: :meth:`verify` finds rows that were changed, only a position
        finds a database that was put back to an earlier state.
        """
        return self._store.read(_place)

    @property
    def head(self) -> str:
        return f"{self.dataset} {self._store.known or self.position}"

    def is_ahead_of(self, position: Position) -> bool:
        """Whether the database still holds everything written up to ``position``.

        Everything is verified anew. False means that it is an older copy, another ledger, or one
        that was rewritten.
        """
        try:
            return self._store.verify(position) is not None
        except LedgerCorruptedError:
            return False

    def events_since(self, position: Position) -> tuple[Event, ...]:
        """What was charged to this account after ``position``.

        Raises
        ------
        LedgerMismatchError
            When the database is not ahead of ``position``.
        """
        if not self.is_ahead_of(position):
            raise LedgerMismatchError(
                f"The ledger does not hold row {position.sequence} as it was: the database "
                "is an older copy, or another one."
            )
        return self._store.read(
            lambda book: tuple(book.events(self._account, after=position.sequence))
        )

    def verify(self) -> Position:
        """Verify the whole data set: hashes, sums, ceilings, stored answers, tables and triggers.

        The table is read, and through no index; the database checks itself as well
        (``integrity_check`` of SQLite, ``amcheck`` where PostgreSQL has it).

        Returns
        -------
        Position
            Of the last row.

        Raises
        ------
        LedgerCorruptedError
            Naming the first row that is wrong; 0 for the founding, or the database itself.
        """
        position = self._store.verify()
        assert position is not None
        return position

    def summary(self) -> dict[str, Any]:
        """Ceiling, sums, open reservations, position and all events, as of one moment."""

        def look(book: Book) -> dict[str, Any]:
            accounts, own = book.accounts, self._account
            keys = [] if accounts.is_closed(own) else accounts.open_reservations(own)
            limits = self._limits(book)
            return {
                "address": self.uri,
                "dataset": self.dataset,
                "unit": self.unit,
                "ceiling": accounts.ceiling(own),
                "spent": nearest(accounts.total(own)),
                "remaining": min(
                    (largest_refund(each.ceiling, each.total) for each in limits), default=0.0
                ),
                "position": str(book.position),
                "reservations": [
                    {
                        "note": accounts.made(key).note,
                        "spent": nearest(accounts.total(key)),
                        "remaining": largest_refund(accounts.ceiling(key), accounts.total(key)),
                    }
                    for key in keys
                ],
                "events": [event.to_dict() for event in book.events(own)],
            }

        return self._store.read(look)

    def _reservation(self, made: Posting) -> SharedReservation:
        return SharedReservation(self._store, made.event.key, made.user, made.project)


class SharedLedger(SharedAccount):
    """Append-only ledger in a database.

    It is a handle: copies, clones and pickles of it, in any thread or process, charge the same
    account. A charge is on disk when ``charge`` returns, and rows are tied together by a chain of
    SHA-256 hashes, which this process verifies as far as it has not done before.

    Parameters
    ----------
    uri : str
    ceiling : float, optional
        Ceiling that the ledger must have.
    dataset : str, default="default"
        One database holds the ledgers of several data sets.
    unit : str or None, default="nats"
        What must be counted; None reads what was stored.
    """

    def __init__(
        self,
        uri: str,
        ceiling: float | None = None,
        *,
        dataset: str = "default",
        unit: str | None = "nats",
    ) -> None:
        from pacsklearn.kernel.ledger.founding import expected, stored_founding

        address = self.database_address(uri)
        if ceiling is not None:
            ceiling = check_budget(budget=ceiling, name="ceiling")
        dataset = ledger_text("dataset", dataset)
        unit = None if unit is None else ledger_text("unit", unit)
        founding = expected(stored_founding(address, dataset), ceiling, unit)
        super().__init__(LogStore(address, founding))

    @classmethod
    def found(
        cls,
        uri: str,
        ceiling: float,
        *,
        dataset: str = "default",
        unit: str = "nats",
        per_user: float | None = None,
        per_project: float | None = None,
        high_water: str = "",
    ) -> Self:
        """Found the ledger of a data set: once, and for good.

        Parameters
        ----------
        uri : str
            As for the class. A file is made when there is none. The first founding on a server
            makes the tables (in the schema ``pacsklearn``) and the writers' role, which its login
            must be allowed to; later ones need the tables' owner.
        ceiling : float
            Most that may ever be charged for the data set; it cannot be changed.
        dataset : str, default="default"
        unit : str, default="nats"
        per_user, per_project : float, optional
            Most that each user, and each project, may be charged: see ``on_behalf_of``.
        high_water : str, default=""
            New file that the end of the ledger is also written to, before every commit; best on
            another disk than the ledger, beside the key of what it guards. Whoever opens the ledger
            must find it, and a database that ends before it (an older copy, or one that lost its
            end) is refused.

        Returns
        -------
        SharedLedger
            Of the class that was asked.

        Raises
        ------
        LedgerError
            When the data set has a ledger already, the file is something else, or the login may
            not found one.
        """
        from pacsklearn.kernel.ledger.founding import write_founding

        address, dataset = cls.database_address(uri), ledger_text("dataset", dataset)
        terms = checked_terms(ceiling, unit, per_user, per_project)
        write_founding(address, dataset, terms, high_water)
        return cls(uri, dataset=dataset, unit=unit)

    @staticmethod
    @abstractmethod
    def database_address(uri: str) -> str:
        """Address of a database as its connections are kept by.

        Raises
        ------
        LedgerError
            When it is none.
        """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.uri!r}, dataset={self.dataset!r})"


def _place(book: Book) -> Position:
    return book.position


@final
class SharedReservation(BookedReservation, SharedAccount):
    """Reservation in a :class:`SharedLedger`; made by its ``reserve``, a handle as well."""

    def __repr__(self) -> str:
        return f"SharedReservation({self.uri!r}, dataset={self.dataset!r}, key={self._account!r})"
