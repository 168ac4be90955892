"""Who a request is from: an API key or an OIDC token; nobody otherwise."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from typing import Any, Final, NamedTuple, final

from argon2.exceptions import Argon2Error, InvalidHashError
from fastapi import Request

from pacsklearn.service.caller import Caller
from pacsklearn.service.key_format import HASHER, parse_key
from pacsklearn.service.link import Link
from pacsklearn.service.oidc import OidcVerifier
from pacsklearn.service.problem import Problem
from pacsklearn.service.rate_limit import RateLimit
from pacsklearn.service.settings import Settings

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
        if name:
            return await self._by_key(request, name, secret)
        if self._oidc is not None:
            caller = await asyncio.to_thread(self._oidc.caller, shown)
            if caller is not None:
                return caller
        raise self._refused(request)

    async def _by_key(self, request: Request, name: str, secret: str) -> Caller:
        digest = self._digest(name, secret)
        known = self._known.pop(digest, None)
        if known is not None and known.until > time.monotonic():
            self._known[digest] = known
            return known.caller
        record: dict[str, Any] | None = await self._link.ask("key", name=name)
        # A hash that no secret fits: an unknown name must cost the same time.
        stored = self._nobody if record is None else record["hash"]
        # What was right for this very hash is right.
        is_right = known is not None and known.hash == stored
        if not is_right:
            is_right = await asyncio.to_thread(_verified, stored, secret)
        if record is None or not is_right:
            raise self._refused(request)
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

    def _refused(self, request: Request) -> Problem:
        """Refusal, which is itself rationed: many of one address are attempts at guessing."""
        try:
            self._failures.take(address_of(request, self._settings))
        except Problem as problem:
            return problem
        return Problem("unauthenticated", "The key or token is not valid, or has expired.")


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
