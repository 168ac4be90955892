"""Who shows a key or a token: checked where the secrets are, for every operation."""

from __future__ import annotations

import hashlib
import time
from typing import Final, final

from pacsklearn_service.server.answering.oidc import OidcVerifier
from pacsklearn_service.server.caller import Caller
from pacsklearn_service.server.settings import Settings
from pacsklearn_service.server.store.api_keys import ApiKeys
from pacsklearn_service.server.store.database import ServiceDatabase
from pacsklearn_service.server.vault import Vault

_MOST_KNOWN: Final = 10_000
_SECONDS: Final = 5.0


@final
class Callers:
    """Checks keys and tokens for one coordinator, and remembers who showed what.

    Parameters
    ----------
    database : ServiceDatabase
    vault : Vault
    settings : Settings
    """

    def __init__(self, database: ServiceDatabase, vault: Vault, settings: Settings) -> None:
        self._database, self._vault = database, vault
        self._oidc = None if settings.oidc is None else OidcVerifier(settings.oidc)
        self._known: dict[bytes, tuple[Caller, float]] = {}

    def find(self, shown: str) -> Caller | None:
        """Return the caller who shows a valid key or token; None for anybody else."""
        digest = hashlib.blake2b(shown.encode()).digest()
        known = self._known.get(digest)
        if known is not None and time.monotonic() < known[1]:
            return known[0]
        with self._database.reading() as connection:
            found = ApiKeys(connection, self._vault).find(shown)
        if found is None and self._oidc is not None and "." in shown:  # no key of ours has one
            found = self._oidc.caller(shown)
        if found is None:
            return None
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        caller, end = found
        # Never beyond its own end, and by a clock that nobody sets back.
        self._known[digest] = caller, time.monotonic() + min(_SECONDS, end - time.time())
        return caller

    def forget(self) -> None:
        """Look up every key anew: one was revoked."""
        self._known.clear()
