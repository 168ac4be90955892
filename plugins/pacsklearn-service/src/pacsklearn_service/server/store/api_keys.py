"""Keys that callers show: issued once, kept as sealed hashes, with scopes and an end."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Iterable
from typing import Any, Final, final

from pacsklearn_service.server.caller import Caller
from pacsklearn_service.server.key_form import is_marked, marked
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.store.connection import Connection
from pacsklearn_service.server.vault import Vault

_DAY: Final = 86400.0
_PREFIX: Final = "pac"


@final
class ApiKeys:
    """The table of keys, inside a transaction.

    Parameters
    ----------
    connection : Connection
    vault : Vault
        Seals what a key is good for: whoever can write the database cannot make one.

    Notes
    -----
    A key has 256 random bits, so that nobody can guess it from its SHA-256: hashes that are slow on
    purpose are for what people choose, and would make guesses expensive for the service.
    """

    def __init__(self, connection: Connection, vault: Vault) -> None:
        self._connection, self._vault = connection, vault

    def issue(
        self, user: str, project: str | None, scopes: Iterable[str], days: float
    ) -> dict[str, str]:
        """Make a key.

        Returns
        -------
        dict
            Its ``name``, and the ``key`` itself: shown once, and kept nowhere.
        """
        name, now = secrets.token_hex(8), time.time()
        key = marked(f"{_PREFIX}_{name}_{secrets.token_urlsafe(32)}", self._vault.form_of_keys)
        facts = {
            "user": user,
            "project": project,
            "scopes": sorted(set(scopes)),
            "hash": _hash(key),
            "created": now,
            "expires": now + days * _DAY,
        }
        self._connection.insert("service_keys", id=name, facts=self._sealed(name, facts))
        return {"name": name, "key": key}

    def rotate(self, name: str, days: float, grace: float) -> dict[str, str]:
        """Make a key for the same caller; the old one ends after ``grace`` seconds."""
        old = self._need(name)
        # Never later than before: rotating does not lengthen an old key's life.
        ends = min(old["expires"], time.time() + grace)
        self._connection.delete("service_keys", id=name)
        if grace:
            facts = self._sealed(name, old | {"expires": ends})
            self._connection.insert("service_keys", id=name, facts=facts)
        return self.issue(old["user"], old["project"], old["scopes"], days)

    def revoke(self, name: str) -> None:
        """End a key now: forgotten, so that no clock that is set back makes it valid again."""
        self._need(name)
        self._connection.delete("service_keys", id=name)

    def delete(self, user: str) -> None:
        """Forget every key of a user."""
        for each in self.all():
            if each["user"] == user:
                self._connection.delete("service_keys", id=each["id"])

    def find(self, key: str) -> tuple[Caller, float] | None:
        """Return the caller whose valid key ``pac_<name>_<secret>`` is, and when it ends.

        None for others.
        """
        if not is_marked(key, self._vault.form_of_keys):
            return None
        name = key.split("_", 2)[1]
        facts = self._valid(name)
        if facts is None or not hmac.compare_digest(facts["hash"], _hash(key)):
            return None
        scopes = frozenset(facts["scopes"])
        return Caller(facts["user"], facts["project"], scopes, name), facts["expires"]

    def all(self) -> list[dict[str, Any]]:
        """Return every key, without hashes."""
        rows = self._connection.ask("SELECT id, facts FROM service_keys")
        keys = [{"id": row["id"], **self._opened(row["id"], row["facts"])} for row in rows]
        for each in keys:
            del each["hash"]
        return sorted(keys, key=lambda each: each["created"])

    def _need(self, name: str) -> dict[str, Any]:
        facts = self._valid(name)
        if facts is None:
            raise Problem("not-found", "There is no valid key of this name.")
        return facts

    def _valid(self, name: str) -> dict[str, Any] | None:
        rows = self._connection.rows("service_keys", id=name)
        facts = self._opened(name, rows[0]["facts"]) if rows else None
        return facts if facts is not None and facts["expires"] > time.time() else None

    def _sealed(self, name: str, facts: dict[str, Any]) -> bytes:
        return self._vault.seal(json.dumps(facts).encode(), f"key/{name}")

    def _opened(self, name: str, sealed: bytes) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self._vault.open(sealed, f"key/{name}"))
        return facts


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
