"""Users and projects that the curator has let in."""

from __future__ import annotations

import json
from typing import Any, final

import sqlalchemy as sa

from pacsklearn.service.problem import Problem
from pacsklearn.service.tables import USERS


@final
class Members:
    """The table of users and projects, inside a transaction.

    Parameters
    ----------
    connection : Connection
    """

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def add(self, kind: str, name: str, facts: dict[str, Any]) -> dict[str, Any]:
        """Add a user or a project."""
        if self.get(kind, name) is not None:
            raise Problem("conflict", f"There is a {kind} of this name already.")
        self._connection.execute(
            sa.insert(USERS).values(kind=kind, name=name, facts=json.dumps(facts))
        )
        return {"name": name, **facts}

    def get(self, kind: str, name: str) -> dict[str, Any] | None:
        """Facts of a user or a project."""
        c = USERS.c
        facts = self._connection.execute(
            sa.select(c.facts).where(c.kind == kind, c.name == name)
        ).scalar_one_or_none()
        return None if facts is None else {"name": name, **json.loads(facts)}

    def need(self, kind: str, name: str) -> None:
        """Refuse one that is not there."""
        if self.get(kind, name) is None:
            raise Problem("not-found", f"There is no {kind} of this name.")

    def all(self, kind: str) -> list[dict[str, Any]]:
        """Everybody of a kind."""
        c = USERS.c
        rows = self._connection.execute(
            sa.select(c.name, c.facts).where(c.kind == kind).order_by(c.name)
        )
        return [{"name": row.name, **json.loads(row.facts)} for row in rows]
