"""Ledgers in a database, shared by threads, processes and copies of an estimator."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Self, final

from pacsklearn._validation import check_budget
from pacsklearn.exceptions import LedgerError, LedgerMismatchError
from pacsklearn.kernel.ledger.accounts import LedgerTerms
from pacsklearn.kernel.ledger.address import database_address, without_password
from pacsklearn.kernel.ledger.event import Event, ledger_text
from pacsklearn.kernel.ledger.founding import stored_founding, write_founding
from pacsklearn.kernel.ledger.ledger import Ledger
from pacsklearn.kernel.ledger.row import Position
from pacsklearn.kernel.ledger.store import LogStore


@final
class SharedLedger(Ledger):
    """Append-only ledger in a database, which :meth:`found` made.

    It is a handle: copies, clones and pickles of it, in any thread or process, charge the same
    account. A charge is on disk when ``charge`` returns, and rows are tied together by a chain of
    SHA-256 hashes, which this process verifies as far as it has not done before. Charges of callers
    that wait at the same time in one process share a transaction.

    Parameters
    ----------
    uri : str
        ``"sqlite:///relative/path.db"`` or ``"sqlite:////absolute/path.db"``, on a local disk;
        ``"postgresql://user:password@host/database"`` with pacsklearn-postgres. A password is never
        printed.
    ceiling : float, optional
        Ceiling that the ledger must have.
    dataset : str, default="default"
        One database holds the ledgers of several data sets.
    unit : str or None, default="nats"
        What must be counted; None reads what was stored.

    Raises
    ------
    LedgerError
        When there is no such ledger: one that was moved or lost does not come back with nothing
        spent.
    LedgerMismatchError
        When the data set was founded with another ceiling or unit, or the database is something
        else.

    Notes
    -----
    The chain shows accidents and clumsy changes. Whoever may write the database can compute a new
    chain, cut its end off, or put an older copy back: keep :attr:`position` elsewhere and compare
    with :func:`~pacsklearn.upkeep.verification.is_ahead_of`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
    >>> path = Path(tempfile.mkdtemp()) / "clinic.db"
    >>> ledger = SharedLedger.found(f"sqlite:///{path}", ceiling=1 / 4)
    >>> search = ledger.reserve(1 / 8, note="grid search")
    >>> ledger.remaining, search.remaining
    (0.125, 0.125)
    >>> search.release_unspent()
    0.125
    """

    _store: LogStore

    def __init__(
        self,
        uri: str,
        ceiling: float | None = None,
        *,
        dataset: str = "default",
        unit: str | None = "nats",
    ) -> None:
        # One address for all spellings of a place: they share a connection, and what was verified.
        address = database_address(uri)
        if ceiling is not None:
            ceiling = check_budget(budget=ceiling, name="ceiling")
        founding = stored_founding(address, ledger_text("dataset", dataset))
        terms = founding.terms
        if ceiling not in (None, terms.ceiling):
            raise LedgerMismatchError(
                f"The dataset {dataset!r} has the ceiling {terms.ceiling!r}, not {ceiling!r}; a "
                "ceiling is never changed. Leave it out to use the stored one."
            )
        if unit is not None and ledger_text("unit", unit) != terms.unit:
            raise LedgerMismatchError(
                f"The dataset {dataset!r} is counted in {terms.unit}, not in {unit}."
            )
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

        Raises
        ------
        LedgerError
            When the data set has a ledger already, the file is something else, or the login may
            not found one.
        """
        address, dataset = database_address(uri), ledger_text("dataset", dataset)
        terms = LedgerTerms.checked(ceiling, unit, per_user, per_project)
        mark = Path(high_water).expanduser().resolve() if high_water else None
        if mark and address.endswith(f":///{mark}"):
            raise LedgerError(f"high_water must be another file than the ledger's, got {mark}.")
        write_founding(address, dataset, terms, mark)
        return cls(uri, dataset=dataset, unit=unit)

    @property
    def store(self) -> LogStore:
        """Where it is written, for those who keep the database in order."""
        return self._store

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

    def charges(self, after: int = 0, most: int | None = None) -> list[tuple[int, Event]]:
        """Return the events in the rows after one, at most so many, and their rows' numbers.

        Rows are never taken back: who has seen some goes on after the last of them.
        """
        return self._store.read(lambda book: list(islice(book.charges(self._account, after), most)))

    @property
    def position(self) -> Position:
        """Place of the dataset's last row, reservations included.

        Keep it outside the database: ``verify_ledger`` finds rows that were changed, only a
        position finds a database that was put back to an earlier state.
        """
        return self._store.read(lambda book: book.fold.position)
