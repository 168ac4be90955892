"""Who a request is from: an API key or an OIDC token; nobody otherwise."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from typing import Any, Final, NamedTuple, final

from argon2.exceptions import Argon2Error, InvalidHashError
from fastapi import Request

from pacsklearn_service.server.caller import Caller
from pacsklearn_service.server.link import Link
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.rate_limit import RateLimit
from pacsklearn_service.server.settings import Settings
from pacsklearn_service.server.store.key_format import HASHER, parse_key
from pacsklearn_service.server.web.oidc import OidcVerifier

_TRUSTED_SECONDS: Final = 5.0
"""How long a checked key is believed: a revoked one is refused within this time."""
_MOST_KNOWN: Final = 10_000


@final
class Authenticator:
    """Checks keys and tokens for one web worker.

    Parameters
    ----------
    link : Link
    settings : Settings

    Notes
    -----
    argon2 is slow on purpose, so a key that was right is remembered, as a digest under a random key
    of this process; whether it is still valid is asked again every few seconds. An unknown name
    costs as much time as a wrong secret.
    """

    def __init__(self, link: Link, settings: Settings) -> None:
        self._link, self._settings = link, settings
        self._failures = RateLimit(settings.failures_per_minute)
        self._checking = asyncio.Lock()
        self._salt = secrets.token_bytes(32)
        self._known: dict[bytes, _Known] = {}
        self._nobody = HASHER.hash(secrets.token_urlsafe(32))
        self._oidc = None if settings.oidc is None else OidcVerifier(settings.oidc)

    async def caller(self, request: Request) -> Caller:
        """Caller of a request.

        Raises
        ------
        Problem
        """
        kind, _, shown = request.headers.get("authorization", "").partition(" ")
        shown = shown.strip()
        if kind.lower() != "bearer" or not shown:
            raise Problem("unauthenticated", "Show a key: Authorization: Bearer pac_...")
        return await self.caller_of(request, shown)

    async def caller_of(self, request: Request, shown: str) -> Caller:
        """Caller who has shown a key or a token.

        Raises
        ------
        Problem
        """
        name, secret = parse_key(shown)
        address = address_of(request, self._settings)
        if self._digest(name, secret) in self._known:
            # Only whether it is still valid: no guess, and nothing slow is computed.
            caller = await self._by_key(name, secret)
        elif name:
            # One after the other, and rationed first: guesses have the time of one core at most.
            async with self._checking:
                self._failures.take(address, 0)
                caller = await self._by_key(name, secret)
        elif self._oidc is not None:
            self._failures.take(address, 0)
            caller = await asyncio.to_thread(self._oidc.caller, shown)
        else:
            caller = None
        if caller is None:
            self._failures.take(address)
            raise Problem("unauthenticated", "The key or token is not valid, or has expired.")
        return caller

    async def _by_key(self, name: str, secret: str) -> Caller | None:
        digest = self._digest(name, secret)
        known = self._known.get(digest)
        if known is not None and known.until > time.monotonic():
            return known.caller
        record: dict[str, Any] | None = await self._link.ask("key", name=name)
        # A hash that no secret fits: an unknown name must cost the same time.
        stored = self._nobody if record is None else record["hash"]
        # What was right for this very hash is right.
        is_right = known is not None and known.hash == stored
        if not is_right:
            is_right = await asyncio.to_thread(_verified, stored, secret)
        # The last that was right stands last: the first is forgotten where there are too many.
        self._known.pop(digest, None)
        if record is None or not is_right:
            return None
        caller = Caller(record["user"], record["project"], frozenset(record["scopes"]), name)
        # Never beyond the key's own end, and by a clock that nobody sets back.
        until = time.monotonic() + min(_TRUSTED_SECONDS, record["expires"] - time.time())
        self._known[digest] = _Known(caller, until, stored)
        if len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]
        return caller

    def forget(self, shown: str) -> None:
        """Ask for a key again when it is shown next, because it was revoked."""
        self._known.pop(self._digest(*parse_key(shown)), None)

    def _digest(self, name: str, secret: str) -> bytes:
        return hashlib.blake2b(f"{name} {secret}".encode(), key=self._salt).digest()


class _Known(NamedTuple):
    """Who has shown a key, until when that is believed unasked, and the hash it is right for."""

    caller: Caller
    until: float
    hash: str


def address_of(request: Request, settings: Settings) -> str:
    """Address that a request came from; a proxy's word is taken only where that is switched on."""
    forwarded = request.headers.get("x-forwarded-for", "") if settings.trust_proxy else ""
    # The last one is the proxy's own; those before it are whatever the client wrote.
    return forwarded.rpartition(",")[2].strip() or (request.client.host if request.client else "")


def _verified(stored: str, secret: str) -> bool:
    try:
        return HASHER.verify(stored, secret)
    except (Argon2Error, InvalidHashError):
        return False
