"""Ledger in an SQLite file, shared by threads, processes and copies of an estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Final, final

from pacsklearn._validation import check_budget
from pacsklearn.accounting.shared_ledger import SharedLedger
from pacsklearn.core.event import ledger_text
from pacsklearn.core.ledger import checked_terms
from pacsklearn.exceptions import LedgerError

__all__ = ["SQLiteLedger", "ledger_path"]

_ADDRESS: Final = "sqlite:///"


@final
class SQLiteLedger(SharedLedger):
    """Append-only ledger in an SQLite file, which :meth:`found` made.

    It is a handle: copies, clones and pickles of it, in any thread or process of one machine,
    charge the same account. A charge is on disk when ``charge`` returns (write-ahead log, full
    synchronisation), and rows are tied together by a chain of SHA-256 hashes.

    Parameters
    ----------
    uri : str
        ``"sqlite:///relative/path.db"`` or ``"sqlite:////absolute/path.db"``, on a local disk.
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
        When the data set was founded with another ceiling or unit, or the file is something else.

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
    >>> ledger = SQLiteLedger.found(f"sqlite:///{path}", ceiling=1 / 4)
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
        from pacsklearn.accounting.founding import expected, stored_founding

        if ceiling is not None:
            ceiling = check_budget(budget=ceiling, name="ceiling")
        dataset = ledger_text("dataset", dataset)
        unit = None if unit is None else ledger_text("unit", unit)
        address = _ADDRESS + str(ledger_path(uri))
        founding = expected(stored_founding(address, dataset), ceiling, unit)
        super().__init__(address, founding)

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
    ) -> SQLiteLedger:
        """Found the ledger of a data set: once, and for good.

        Parameters
        ----------
        uri : str
            As for the class. The file is made when there is none.
        ceiling : float
            Most that may ever be charged for the data set; it cannot be changed.
        dataset : str, default="default"
        unit : str, default="nats"
        per_user, per_project : float, optional
            Most that each user, and each project, may be charged: see ``on_behalf_of``.

        Returns
        -------
        SQLiteLedger

        Raises
        ------
        LedgerError
            When the data set has a ledger already, or the file is something else.
        """
        from pacsklearn.accounting.founding import found

        dataset = ledger_text("dataset", dataset)
        terms = checked_terms(ceiling, unit, per_user, per_project)
        path = ledger_path(uri)
        if not path.parent.is_dir():
            raise LedgerError(f"There is no folder {path.parent} for the ledger; create it first.")
        found(_ADDRESS + str(path), dataset, terms)
        return cls(uri, dataset=dataset, unit=unit)


def ledger_path(uri: str) -> Path:
    """File that an address names."""
    address = str(uri)
    name = address.removeprefix(_ADDRESS)
    if name in ("", address) or name.startswith(("file:", ":memory:")) or "?" in name:
        raise LedgerError(
            "A ledger's address is 'sqlite:///path' of a file, without options (three slashes "
            f"and a relative path, or four and an absolute one), got {uri!r}."
        )
    return Path(name).expanduser().resolve()
