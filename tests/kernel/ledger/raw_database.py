"""The database of a ledger, as any other client of it sees it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from pacsklearn.kernel.ledger.shared_ledger import SharedLedger


def raw(ledger: SharedLedger, statement: str) -> list[Any]:
    """Lines that a statement gives, run by the owner of the database."""
    if ledger.uri.startswith("sqlite"):
        path = ledger.uri.removeprefix("sqlite:///")
        with closing(sqlite3.connect(path, isolation_level=None)) as file:
            return file.execute(statement).fetchall()
    import psycopg  # only where there is a server

    # The tests' server trusts whoever asks, so that the password, which is hidden, does not matter.
    with psycopg.connect(ledger.uri, autocommit=True) as server:
        server.execute("SET search_path = pacsklearn")
        cursor = server.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []
