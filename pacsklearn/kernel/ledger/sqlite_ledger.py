"""Ledger in an SQLite file, shared by threads, processes and copies of an estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Final, final

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger

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
    >>> from pacsklearn.kernel.ledger.sqlite_ledger import SQLiteLedger
    >>> path = Path(tempfile.mkdtemp()) / "clinic.db"
    >>> ledger = SQLiteLedger.found(f"sqlite:///{path}", ceiling=1 / 4)
    >>> search = ledger.reserve(1 / 8, note="grid search")
    >>> ledger.remaining, search.remaining
    (0.125, 0.125)
    >>> search.release_unspent()
    0.125
    """

    @staticmethod
    def database_address(uri: str) -> str:
        return _ADDRESS + str(ledger_path(uri))


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
