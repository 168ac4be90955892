"""Who changed what, as a chain of hashes; holds no row, no key and no label."""

from __future__ import annotations

import hashlib
from typing import Any, final

import sqlalchemy as sa

from pacsklearn.kernel.ledger.ledger import time_text
from pacsklearn.service.tables import AUDIT


@final
class AuditLog:
    """The curator plane's log, inside a transaction.

    Parameters
    ----------
    connection : Connection
    """

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def add(self, actor: str, action: str, what: str, outcome: str = "done") -> None:
        """Append one line."""
        last = self._connection.execute(
            sa.select(AUDIT.c.sequence, AUDIT.c.hash).order_by(AUDIT.c.sequence.desc()).limit(1)
        ).one_or_none()
        line: dict[str, Any] = {
            "sequence": 1 if last is None else last.sequence + 1,
            "time": time_text(),
            "actor": actor,
            "action": action,
            "object": what,
            "outcome": outcome,
        }
        # Chained: a line that is taken out or changed shows in all that follow.
        line["hash"] = _digest("" if last is None else last.hash, line)
        self._connection.execute(sa.insert(AUDIT).values(**line))

    def lines(self, *, after: int = 0, limit: int = 100) -> list[dict[str, Any]]:
        """Lines in order."""
        rows = self._connection.execute(
            sa.select(AUDIT).where(AUDIT.c.sequence > after).order_by(AUDIT.c.sequence).limit(limit)
        )
        return [dict(row._mapping) for row in rows]

    def first_wrong(self) -> int | None:
        """Number of the first line that is not what was written; None when all are."""
        before, expected = "", 1
        for row in self._connection.execute(sa.select(AUDIT).order_by(AUDIT.c.sequence)):
            line = dict(row._mapping)
            if line["sequence"] != expected or line.pop("hash") != _digest(before, line):
                return expected
            before, expected = row.hash, expected + 1
        return None


def _digest(before: str, line: dict[str, Any]) -> str:
    fields = ("sequence", "time", "actor", "action", "object", "outcome")
    text = "|".join([before, *(repr(line[name]) for name in fields)])
    return hashlib.sha256(text.encode()).hexdigest()
