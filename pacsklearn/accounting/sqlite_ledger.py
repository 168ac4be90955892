"""Ledger in an SQLite file, shared by threads, processes and copies of an estimator."""

from __future__ import annotations

from pathlib import Path
from typing import final

from pacsklearn._validation import check_budget
from pacsklearn.accounting.entry import Founding
from pacsklearn.accounting.sqlite_account import ADDRESS, SQLiteAccount, opened
from pacsklearn.core.event import ledger_text
from pacsklearn.exceptions import LedgerError, LedgerMismatchError

__all__ = ["SQLiteLedger", "ledger_path"]


@final
class SQLiteLedger(SQLiteAccount):
    """Append-only ledger in an SQLite file.

    It is a handle: copies, clones and pickles of it, in any thread or process of one machine,
    charge the same account. A charge is on disk when ``charge`` returns (write-ahead log, full
    synchronisation), and rows are tied together by a chain of SHA-256 hashes.

    Parameters
    ----------
    uri : str
        ``"sqlite:///relative/path.db"`` or ``"sqlite:////absolute/path.db"``, on a local disk.
    ceiling : float, optional
        Most that may ever be charged for the data set. It is stored when the data set is first
        named and cannot be changed; None reads what was stored.
    dataset : str, default="default"
        One database holds the ledgers of several data sets.
    unit : str or None, default="nats"
        What is counted; None reads what was stored.

    Raises
    ------
    LedgerError
        When the database cannot be opened, or there is nothing to read the ceiling from.
    LedgerMismatchError
        When the data set was stored with another ceiling or unit, or the file is something else.

    Notes
    -----
    The chain shows accidents and clumsy changes. Whoever may write the file can compute a new
    chain, cut its end off, or put an older copy back: keep :attr:`position` elsewhere and compare
    with :meth:`is_ahead_of`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pacsklearn.accounting.sqlite_ledger import SQLiteLedger
    >>> path = Path(tempfile.mkdtemp()) / "clinic.db"
    >>> ledger = SQLiteLedger(f"sqlite:///{path}", ceiling=1 / 4)
    >>> search = ledger.reserve(1 / 8, note="grid search")
    >>> ledger.remaining, search.remaining
    (0.125, 0.125)
    >>> search.release_unspent()
    0.125
    """

    def __init__(
        self,
        uri: str,
        ceiling: float | None = None,
        *,
        dataset: str = "default",
        unit: str | None = "nats",
    ) -> None:
        if ceiling is not None:
            ceiling = check_budget(budget=ceiling, name="ceiling")
        dataset = ledger_text("dataset", dataset)
        unit = None if unit is None else ledger_text("unit", unit)
        path = ledger_path(uri)
        founding = _founding(path, dataset, ceiling, unit)
        super().__init__(str(path), founding, "", founding.ceiling)

    @property
    def ceiling(self) -> float:
        return self._amount

    def __repr__(self) -> str:
        return f"SQLiteLedger({self.uri!r}, dataset={self.dataset!r})"


def ledger_path(uri: str) -> Path:
    """File that an address names."""
    address = str(uri)
    name = address.removeprefix(ADDRESS)
    if name in ("", address) or name.startswith(("file:", ":memory:")) or "?" in name:
        raise LedgerError(
            "A ledger's address is 'sqlite:///path' of a file, without options (three slashes "
            f"and a relative path, or four and an absolute one), got {uri!r}."
        )
    path = Path(name).expanduser().resolve()
    if not path.parent.is_dir():
        raise LedgerError(f"There is no folder {path.parent} for the ledger; create it first.")
    return path


def _founding(path: Path, dataset: str, ceiling: float | None, unit: str | None) -> Founding:
    from pacsklearn.accounting.database import transaction
    from pacsklearn.accounting.tables import create_tables

    unknown = LedgerError(
        f"{ADDRESS}{path} has no ledger for the dataset {dataset!r}; give its ceiling to found it."
    )
    if not path.exists():
        if ceiling is None:
            raise unknown
        path.touch()
    with transaction(str(path), write=True) as connection:
        create_tables(connection)
    with opened(str(path), dataset, write=True) as book:
        founding = book.founding()
        if founding is None:
            if ceiling is None:
                raise unknown
            return book.found(ceiling, "nats" if unit is None else unit)
    if ceiling is not None and ceiling != founding.ceiling:
        raise LedgerMismatchError(
            f"The dataset {dataset!r} has the ceiling {founding.ceiling!r}, not {ceiling!r}; a "
            "ceiling is never changed. Leave it out to use the stored one."
        )
    if unit is not None and unit != founding.unit:
        raise LedgerMismatchError(
            f"The dataset {dataset!r} is counted in {founding.unit}, not in {unit}."
        )
    return founding
