"""Users and projects that the curator has let in."""

from __future__ import annotations

import json
from typing import Any, final

from pacsklearn_service.server.problem import Problem, taken
from pacsklearn_service.server.store.connection import Connection


@final
class Members:
    """The table of users and projects, inside a transaction.

    Parameters
    ----------
    connection : Connection
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, kind: str, name: str, facts: dict[str, Any]) -> dict[str, Any]:
        """Add a user or a project."""
        if self._connection.rows("service_users", kind=kind, name=name):
            raise taken(kind, name)
        self._connection.insert("service_users", kind=kind, name=name, facts=json.dumps(facts))
        return {"name": name, **facts}

    def need(self, kind: str, name: str) -> None:
        """Refuse one that is not there; whoever is stays there until the transaction ends."""
        question = "SELECT name FROM service_users WHERE kind = ? AND name = ?"
        if not self._connection.ask(question + self._connection.locked, kind, name):
            raise Problem("not-found", f"There is no {kind} of this name.")

    def all(self, kind: str) -> list[dict[str, Any]]:
        """Return everybody of a kind."""
        question = "SELECT name, facts FROM service_users WHERE kind = ? ORDER BY name"
        rows = self._connection.ask(question, kind)
        return [{"name": row["name"], **json.loads(row["facts"])} for row in rows]
