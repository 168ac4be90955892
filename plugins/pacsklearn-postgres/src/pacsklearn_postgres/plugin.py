"""What this distribution adds to pacsklearn."""

from __future__ import annotations

from collections.abc import Iterator

from pacsklearn.plugins import hookimpl

pacsklearn_api = 1  # the number of the hooks that this was written for


@hookimpl
def pacsklearn_ledger_schemes() -> Iterator[str]:
    """Yield the ledgers on a server."""
    yield "pacsklearn_postgres:PostgresLog"
