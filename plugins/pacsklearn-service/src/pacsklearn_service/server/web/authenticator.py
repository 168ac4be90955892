"""What a web worker knows of who shows a key or a token; the coordinator checks both."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import re
import time
from math import inf
from typing import Final, final

from fastapi import Request

from pacsklearn_service.server.caller import Caller
from pacsklearn_service.server.key_form import is_marked
from pacsklearn_service.server.link import Link
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.rate_limit import RateLimit
from pacsklearn_service.server.settings import Settings

_TRUSTED_SECONDS: Final = 5.0
_MOST_KNOWN: Final = 10_000
_WITH_PORT: Final = re.compile(r"^(?:([\d.]+):\d+|\[(.+)\](?::\d+)?)$")


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
    itself, which is checked where the secrets are. Here it is remembered for a few seconds whose a
    key is, or that it is nobody's.

    A key that this service has issued shows its mark, and is looked up at once: whoever guesses at
    the same address keeps nobody out. All else is rationed by address before it is looked up. Among
    that are the tokens of an issuer, whose signature says nothing here: checking it is the work
    that is rationed.
    """

    def __init__(self, link: Link, settings: Settings) -> None:
        self._link, self._settings = link, settings
        self._failures = RateLimit(settings.failures_per_minute, "failed sign-ins")
        self._checking = asyncio.Lock()
        # Who has shown a key, and until when that is believed unasked.
        self._known: dict[bytes, tuple[Caller | None, float]] = {}
        self._form: bytes | None = None

    async def caller(self, request: Request) -> Caller:
        """Return the caller of a request, whose state keeps what was shown, and its digest.

        Raises
        ------
        Problem
        """
        kind, _, shown = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            raise Problem("unauthenticated", "Show a key: Authorization: Bearer pac_...")
        return await self.caller_of(request, shown.strip())

    async def caller_of(self, request: Request, shown: str) -> Caller:
        """Return the caller who has shown a key or a token.

        Raises
        ------
        Problem
        """
        digest = hashlib.blake2b(shown.encode()).digest()
        caller, until = self._known.get(digest, (None, -inf))
        if until < time.monotonic():
            if self._form is None:
                self._form = bytes.fromhex(await self._link.ask("form_of_keys"))
            if caller is not None or is_marked(shown, self._form):
                caller = await self._asked(shown)
            else:
                caller = await self._rationed(shown, address_of(request, self._settings))
            # Whoever was asked for last stands last: the first is forgotten where there are many.
            self._known.pop(digest, None)
            self._known[digest] = caller, time.monotonic() + _TRUSTED_SECONDS
            if len(self._known) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]
        if caller is None:
            raise Problem("unauthenticated", "The key or token is not valid, or has expired.")
        request.state.shown, request.state.digest = shown, digest
        return caller

    async def _rationed(self, shown: str, address: str) -> Caller | None:
        # One after the other, and rationed first: guesses cost others nothing.
        async with self._checking:
            self._failures.take(address, 0)
            caller = await self._asked(shown)
            if caller is None:
                self._failures.take(address)
            return caller

    async def _asked(self, shown: str) -> Caller | None:
        who = await self._link.ask("who", shown)
        return who and Caller(**who | {"scopes": frozenset(who["scopes"])})


def address_of(request: Request, settings: Settings) -> str:
    """Return the address that a request came from.

    A proxy's word is taken only where that is switched on.
    """
    forwarded = request.headers.getlist("x-forwarded-for") if settings.trust_proxy else []
    # The last one is the proxy's own; those before it are whatever the client wrote.
    text = ",".join(forwarded).rpartition(",")[2].strip()
    text = text or (request.client.host if request.client else "")
    text = _WITH_PORT.sub(r"\1\2", text)  # every connection has another port
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    if address.version == 6 and address.ipv4_mapped:  # at a socket of both versions
        address = address.ipv4_mapped
    # Whoever has one address of version 6 has the 2**64 beside it.
    length = 32 if address.version == 4 else 64
    return str(ipaddress.ip_network((address, length), strict=False).network_address)
