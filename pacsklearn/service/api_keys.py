"""Keys that callers show: issued once, kept as argon2 hashes, with scopes and an end."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable
from typing import Any, Final, final

import sqlalchemy as sa

from pacsklearn.service.caller import SCOPES
from pacsklearn.service.key_format import HASHER, PREFIX
from pacsklearn.service.problem import Problem
from pacsklearn.service.tables import KEYS

_DAY: Final = 86400.0


@final
class ApiKeys:
    """The table of keys, inside a transaction.

    Parameters
    ----------
    connection : Connection
    """

    def __init__(self, connection: sa.Connection) -> None:
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
        self._connection.execute(
            sa.insert(KEYS).values(
                id=name,
                user=user,
                project=project,
                scopes=" ".join(wanted),
                hash=HASHER.hash(secret),
                created=now,
                expires=now + days * _DAY,
            )
        )
        return name, f"{PREFIX}_{name}_{secret}"

    def rotate(self, name: str, days: float, grace: float) -> tuple[str, str]:
        """Make a key for the same caller; the old one ends after ``grace`` seconds."""
        record = self.record(name)
        if record is None:
            raise Problem("not-found", "There is no valid key of this name.")
        # Never later than before: rotating does not lengthen an old key's life.
        self._update(name, expires=min(record["expires"], time.time() + grace))
        return self.issue(record["user"], record["project"], record["scopes"], days)

    def revoke(self, name: str) -> None:
        """End a key now."""
        if self.record(name) is None:
            raise Problem("not-found", "There is no valid key of this name.")
        self._update(name, revoked=time.time())

    def record(self, name: str) -> dict[str, Any] | None:
        """What is known of a valid key, its hash included."""
        row = self._connection.execute(sa.select(KEYS).where(KEYS.c.id == name)).one_or_none()
        if row is None or row.revoked is not None or row.expires <= time.time():
            return None
        own = {name: getattr(row, name) for name in ("user", "project", "hash", "expires")}
        return own | {"scopes": row.scopes.split()}

    def all(self) -> list[dict[str, Any]]:
        """Every key, without hashes."""
        c = KEYS.c
        rows = self._connection.execute(
            sa.select(c.id, c.user, c.project, c.scopes, c.created, c.expires, c.revoked).order_by(
                c.created
            )
        )
        return [dict(row._mapping) | {"scopes": row.scopes.split()} for row in rows]

    def _update(self, name: str, **values: float) -> None:
        self._connection.execute(sa.update(KEYS).where(KEYS.c.id == name).values(**values))
