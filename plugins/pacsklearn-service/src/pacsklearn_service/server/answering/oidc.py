"""Tokens of an OpenID Connect issuer."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from math import inf
from typing import Any, Final, final

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from pacsklearn_service.channel import is_protected
from pacsklearn_service.server.caller import SCOPES, Caller
from pacsklearn_service.server.log import LOG
from pacsklearn_service.server.problem import Problem
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

    Notes
    -----
    Only algorithms with public keys are accepted. The issuer's keys are read beside all requests,
    which never wait for it: every five minutes, and for a token that none of them signed, at most
    every ten seconds.

    Attributes
    ----------
    reading : Thread or None
        Reads the issuer's keys, or has done so last.
    """

    def __init__(self, settings: Oidc) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._keys: KeySet | None = None
        self._read = -inf
        self.reading: threading.Thread | None = None
        self._refresh(_KEPT)

    def caller(self, token: str) -> tuple[Caller, float] | None:
        """Return the caller that a token names, and when it ends; None when it is not valid.

        Raises
        ------
        Problem
            When keys of the issuer that may have signed it are being read.
        """
        # Before anything of it is decoded.
        if len(token) > _LONGEST:
            return None
        self._refresh(_KEPT)
        claims = self._claims(token)
        if claims is None:
            self._refresh(_LEAST_WAIT)
            if self.reading is not None and self.reading.is_alive():
                text = "The keys of the issuer of tokens are being read; try again."
                raise Problem("unavailable", text)
            claims = self._claims(token)
        if claims is None:
            return None
        user = claims.get(self._settings.user_claim)
        project = claims.get(self._settings.project_claim)
        claimed = claims.get(self._settings.scope_claim, "")
        scopes = claimed.split() if isinstance(claimed, str) else claimed
        if not isinstance(user, str) or not user or not isinstance(scopes, list):
            return None
        # Nobody asks past the project's quota because its name was not understood.
        if not isinstance(project, str | None):
            return None
        granted = frozenset(each for each in scopes if each in SCOPES)
        return Caller(user, project, granted, "oidc"), claims["exp"]

    def _claims(self, token: str) -> dict[str, Any] | None:
        if self._keys is None:
            return None
        try:
            token_ = jwt.decode(token, self._keys, algorithms=_ALGORITHMS)
            jwt.JWTClaimsRegistry(
                leeway=_LEEWAY,
                iss={"essential": True, "value": self._settings.issuer},
                aud={"essential": True, "value": self._settings.audience},
                exp={"essential": True},
            ).validate(token_.claims)
            # JSON has integers that are no doubles.
            return token_.claims | {"exp": float(token_.claims["exp"])}
        except (JoseError, ValueError, TypeError, KeyError, OverflowError):
            return None

    def _refresh(self, oldest: float) -> None:
        with self._lock:
            now = time.monotonic()
            if now - self._read <= oldest:
                return
            self._read = now
            self.reading = threading.Thread(target=self._read_keys, name="oidc", daemon=True)
            self.reading.start()

    def _read_keys(self) -> None:
        try:
            self._keys = KeySet.import_key_set(fetch_keys(self._settings.jwks))
        except (OSError, ValueError, TypeError, KeyError, JoseError) as error:
            # The keys of before are still those of the issuer.
            LOG.warning("the issuer's keys could not be read", error=type(error).__name__)


def fetch_keys(url: str) -> Any:
    """Read a JWKS document; over TLS, or from this machine, wherever it is found in the end."""
    opener = urllib.request.build_opener(_Redirected)
    with opener.open(_checked(url), timeout=5) as response:
        return json.loads(response.read(2**20))


class _Redirected(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any) -> urllib.request.Request | None:
        _checked(args[-1])
        return super().redirect_request(*args)


def _checked(url: str) -> str:
    if not is_protected(url):
        raise ValueError("The address of the issuer's keys must begin with https://.")
    return url
