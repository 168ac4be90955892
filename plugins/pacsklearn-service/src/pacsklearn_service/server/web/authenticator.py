"""What a web worker knows of who shows a key or a token; the coordinator checks both."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import time
from typing import Final, final

from fastapi import Request

from pacsklearn_service.server.caller import Caller
from pacsklearn_service.server.link import Link
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.rate_limit import RateLimit
from pacsklearn_service.server.settings import Settings

_TRUSTED_SECONDS: Final = 5.0
_MOST_KNOWN: Final = 10_000


@final
class Authenticator:
    """Lets nobody unknown through to what reads bodies, and rations guesses.

    Parameters
    ----------
    link : Link
    settings : Settings

    Notes
    -----
    Nothing that the coordinator does depends on it: every operation carries the key or token
    itself, which is checked where the secrets are. Here a caller is remembered for a few seconds.
    """

    def __init__(self, link: Link, settings: Settings) -> None:
        self._link, self._settings = link, settings
        self._failures = RateLimit(settings.failures_per_minute)
        self._checking = asyncio.Lock()
        # Who has shown a key, and until when that is believed unasked.
        self._known: dict[bytes, tuple[Caller, float]] = {}

    async def caller(self, request: Request) -> Caller:
        """Caller of a request, whose state keeps what was shown.

        Raises
        ------
        Problem
        """
        kind, _, shown = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            raise Problem("unauthenticated", "Show a key: Authorization: Bearer pac_...")
        return await self.caller_of(request, shown.strip())

    async def caller_of(self, request: Request, shown: str) -> Caller:
        """Caller who has shown a key or a token.

        Raises
        ------
        Problem
        """
        digest = hashlib.blake2b(shown.encode()).digest()
        known = self._known.get(digest)
        if known is None:
            # One after the other, and rationed first: guesses cost others nothing.
            async with self._checking:
                address = address_of(request, self._settings)
                self._failures.take(address, 0)
                known = await self._asked(shown)
                if known is None:
                    self._failures.take(address)
        elif known[1] < time.monotonic():
            known = await self._asked(shown)
        # Whoever was asked for last stands last: the first is forgotten where there are too many.
        self._known.pop(digest, None)
        if known is None:
            raise Problem("unauthenticated", "The key or token is not valid, or has expired.")
        self._known[digest] = known
        if len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]
        request.state.shown = shown
        return known[0]

    async def _asked(self, shown: str) -> tuple[Caller, float] | None:
        who = await self._link.ask("who", shown)
        if who is None:
            return None
        caller = Caller(**who | {"scopes": frozenset(who["scopes"])})
        return caller, time.monotonic() + _TRUSTED_SECONDS


def address_of(request: Request, settings: Settings) -> str:
    """Address that a request came from; a proxy's word is taken only where that is switched on."""
    forwarded = request.headers.get("x-forwarded-for", "") if settings.trust_proxy else ""
    # The last one is the proxy's own; those before it are whatever the client wrote.
    text = forwarded.rpartition(",")[2].strip() or (request.client.host if request.client else "")
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return text
    # Whoever has one address of version 6 has the 2**64 beside it.
    return text if found.version == 4 else str(ipaddress.ip_network((found, 64), strict=False))
