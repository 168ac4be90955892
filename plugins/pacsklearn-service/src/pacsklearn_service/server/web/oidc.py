"""Tokens of an OpenID Connect issuer."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, final
from urllib.parse import urlsplit

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from pacsklearn_service.channel import is_loopback
from pacsklearn_service.server.caller import SCOPES, Caller
from pacsklearn_service.server.settings import Oidc

_ALGORITHMS: Final = ["RS256", "PS256", "ES256", "Ed25519"]
_KEPT: Final = 300.0
_LEAST_WAIT: Final = 10.0
_LEEWAY: Final = 30
_LONGEST: Final = 16_384


@final
class OidcVerifier:
    """Verifies signature, issuer, audience and times.

    Parameters
    ----------
    settings : Oidc
    fetch : callable
        Gives the issuer's keys (a JWKS document).
    clock : callable

    Notes
    -----
    Only algorithms with public keys are accepted. The issuer's keys are kept for five minutes and
    read anew for a token that none of them signed, at most every ten seconds.
    """

    def __init__(
        self,
        settings: Oidc,
        fetch: Callable[[str], Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._fetch, self._clock = settings, fetch or fetch_keys, clock
        self._lock = threading.Lock()
        self._keys: KeySet | None = None
        self._read = -_KEPT

    def caller(self, token: str) -> Caller | None:
        """Caller that a token names; None when it is not valid."""
        # Before anything of it is decoded.
        if len(token) > _LONGEST:
            return None
        claims = self._claims(token, self._current(_KEPT))
        if claims is None:
            claims = self._claims(token, self._current(_LEAST_WAIT))
        if claims is None:
            return None
        user, project = (
            claims.get(self._settings.user_claim),
            claims.get(self._settings.project_claim),
        )
        claimed = claims.get(self._settings.scope_claim, "")
        scopes = claimed.split() if isinstance(claimed, str) else claimed
        if not isinstance(user, str) or not user or not isinstance(scopes, list):
            return None
        granted = frozenset(each for each in scopes if each in SCOPES)
        return Caller(user, project if isinstance(project, str) else None, granted, "oidc")

    def _claims(self, token: str, keys: KeySet | None) -> dict[str, Any] | None:
        if keys is None:
            return None
        try:
            token_ = jwt.decode(token, keys, algorithms=_ALGORITHMS)
            jwt.JWTClaimsRegistry(
                leeway=_LEEWAY,
                iss={"essential": True, "value": self._settings.issuer},
                aud={"essential": True, "value": self._settings.audience},
                exp={"essential": True},
            ).validate(token_.claims)
        except (JoseError, ValueError, TypeError, KeyError):
            return None
        return dict(token_.claims)

    def _current(self, oldest: float) -> KeySet | None:
        is_due = self._clock() - self._read > oldest
        # Nobody waits for a slow issuer whose keys of before are there.
        if is_due and self._lock.acquire(blocking=self._keys is None):
            try:
                if self._clock() - self._read > oldest:
                    self._read = self._clock()
                    # Where it fails, the keys of before are still those of the issuer.
                    with suppress(OSError, ValueError, TypeError, KeyError, JoseError):
                        self._keys = KeySet.import_key_set(self._fetch(self._settings.jwks))
            finally:
                self._lock.release()
        return self._keys


def fetch_keys(url: str) -> Any:
    """Read a JWKS document; over TLS, or from this machine."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname)):
        raise ValueError("The address of the issuer's keys must begin with https://.")
    with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310 - checked above
        return json.loads(response.read(2**20))
