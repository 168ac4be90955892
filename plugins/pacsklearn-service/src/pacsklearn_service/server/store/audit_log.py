"""Who changed what, as a chain of hashes; holds no row, no key and no label."""

from __future__ import annotations

import hashlib
from typing import Any, final

from pacsklearn.kernel.ledger.book import time_text
from pacsklearn_service.server.store.connection import Connection


@final
class AuditLog:
    """The curator plane's log, inside a transaction.

    Parameters
    ----------
    connection : Connection
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, actor: str, action: str, what: str, outcome: str = "done") -> None:
        """Append one line."""
        question = "SELECT sequence, hash FROM service_audit ORDER BY sequence DESC LIMIT 1"
        last: dict[str, Any] = {"sequence": 0, "hash": ""}
        last |= dict(*self._connection.ask(question))
        line: dict[str, Any] = {
            "sequence": last["sequence"] + 1,
            "time": time_text(),
            "actor": actor,
            "action": action,
            "object": what,
            "outcome": outcome,
        }
        # Chained: a line that is taken out or changed shows in all that follow.
        line["hash"] = _digest(last["hash"], line)
        self._connection.insert("service_audit", **line)

    def lines(self, *, after: int = 0, limit: int = 100) -> list[dict[str, Any]]:
        """Return the lines in order."""
        question = "SELECT * FROM service_audit WHERE sequence > ? ORDER BY sequence LIMIT ?"
        return self._connection.ask(question, after, limit)

    def first_wrong(self) -> int | None:
        """Return the number of the first line that is not what was written; None when all are."""
        before, expected = "", 1
        for line in self._connection.ask("SELECT * FROM service_audit ORDER BY sequence"):
            if line["sequence"] != expected or line["hash"] != _digest(before, line):
                return expected
            before, expected = line["hash"], expected + 1
        return None


def _digest(before: str, line: dict[str, Any]) -> str:
    fields = ("sequence", "time", "actor", "action", "object", "outcome")
    text = "|".join([before, *(repr(line[name]) for name in fields)])
    return hashlib.sha256(text.encode()).hexdigest()
