"""Keys that callers show: issued once, kept as argon2 hashes, with scopes and an end."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable
from typing import Any, Final, final

from pacsklearn_service.server.caller import SCOPES
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.store.connection import Connection
from pacsklearn_service.server.store.key_format import HASHER, PREFIX

_DAY: Final = 86400.0


@final
class ApiKeys:
    """The table of keys, inside a transaction.

    Parameters
    ----------
    connection : Connection
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def issue(
        self, user: str, project: str | None, scopes: Iterable[str], days: float
    ) -> tuple[str, str]:
        """Make a key.

        Returns
        -------
        (str, str)
            Its name, and the key itself: shown once, and kept nowhere.
        """
        wanted = sorted(set(scopes))
        if not wanted or not set(wanted) <= set(SCOPES):
            raise Problem("invalid", f"scopes must be some of {', '.join(SCOPES)}.")
        name, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        now = time.time()
        self._connection.insert(
            "service_keys",
            id=name,
            user=user,
            project=project,
            scopes=" ".join(wanted),
            hash=HASHER.hash(secret),
            created=now,
            expires=now + days * _DAY,
        )
        return name, f"{PREFIX}_{name}_{secret}"

    def rotate(self, name: str, days: float, grace: float) -> tuple[str, str]:
        """Make a key for the same caller; the old one ends after ``grace`` seconds."""
        record = self.record(name)
        if record is None:
            raise Problem("not-found", "There is no valid key of this name.")
        # Never later than before: rotating does not lengthen an old key's life.
        expires = min(record["expires"], time.time() + grace)
        self._connection.change("UPDATE service_keys SET expires = ? WHERE id = ?", expires, name)
        return self.issue(record["user"], record["project"], record["scopes"], days)

    def revoke(self, name: str) -> None:
        """End a key now."""
        if self.record(name) is None:
            raise Problem("not-found", "There is no valid key of this name.")
        now = time.time()
        self._connection.change("UPDATE service_keys SET revoked = ? WHERE id = ?", now, name)

    def record(self, name: str) -> dict[str, Any] | None:
        """What is known of a valid key, its hash included."""
        rows = self._connection.ask(
            'SELECT "user", project, hash, expires, scopes FROM service_keys '
            "WHERE id = ? AND revoked IS NULL AND expires > ?",
            name,
            time.time(),
        )
        return rows[0] | {"scopes": rows[0]["scopes"].split()} if rows else None

    def all(self) -> list[dict[str, Any]]:
        """Every key, without hashes."""
        rows = self._connection.ask(
            'SELECT id, "user", project, scopes, created, expires, revoked FROM service_keys '
            "ORDER BY created"
        )
        return [row | {"scopes": row["scopes"].split()} for row in rows]
