"""Ledger on a PostgreSQL server, shared by machines."""

from __future__ import annotations

from importlib.util import find_spec
from typing import final

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.ledger.log import without_password
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger


@final
class PostgresLedger(SharedLedger):
    """Append-only ledger on a PostgreSQL server, which :meth:`found` made.

    A charge verifies what others have appended, appends its own row if nobody else has done so in
    between, and returns when that is on the server's disk. Charges of callers that wait at the same
    time in one process share a transaction. Rows cannot be changed or deleted: triggers refuse it,
    and the role ``pacsklearn_ledger_writer``, which is used for everything but founding, may not.

    Parameters
    ----------
    uri : str
        ``"postgresql://user:password@host/database"``, with libpq's options. Its password is never
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
        When the server cannot be reached, or there is no such ledger.
    LedgerMismatchError
        When the data set was founded with another ceiling or unit.

    Notes
    -----
    A login of an application needs membership in the role, and nothing else: ``GRANT
    pacsklearn_ledger_writer TO application``. When the server is lost during a charge, ``charge``
    waits for it to come back and finds out whether the row was committed: it is neither lost nor
    written twice.
    """

    @staticmethod
    def database_address(uri: str) -> str:
        text = str(uri)
        if not text.startswith(("postgresql://", "postgresql+psycopg://")):
            raise LedgerError(
                "A ledger's address is 'postgresql://user:password@host/database', got "
                f"{without_password(text)!r}."
            )
        if find_spec("psycopg") is None:
            raise LedgerError(
                "A ledger on a PostgreSQL server needs psycopg: pip install 'pacsklearn[postgres]'."
            )
        return "postgresql://" + text.partition("://")[2]
