"""HTTP to a service: keys, certificates checked, time bounded, retried where that is safe."""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import ssl
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, final
from urllib.parse import quote, urlsplit

from pacsklearn_service.errors import (
    PriceError,
    ServiceBudgetError,
    ServiceError,
    ServiceRequestError,
    ServiceUnavailableError,
)

VARIABLE: Final = "PACSKLEARN_SERVICE_KEY"
"""Environment variable that holds a key where none is given."""


@final
class ApiKey:
    """An API key or token, which no repr, no diagram of a pipeline and no text shows.

    Parameters
    ----------
    secret : str
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        own = secret.strip()  # a file that holds it ends with a new line
        if not (own.isascii() and own.isprintable() and own):  # and so cannot add a header
            raise ValueError("key must hold printable ASCII characters only, as it was issued")
        self._secret = own

    def reveal(self) -> str:
        """Return the key itself, for a request's header."""
        return self._secret

    def __repr__(self) -> str:
        return "ApiKey(...)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ApiKey) and other._secret == self._secret

    def __hash__(self) -> int:
        return hash(self._secret)

    @classmethod
    def of(cls, key: ApiKey | str | None) -> ApiKey:
        """Return the key as given, or that of the environment."""
        if isinstance(key, ApiKey):
            return key
        text: object = os.environ.get(VARIABLE) if key is None else key
        if not isinstance(text, str) or not text:
            given = type(text).__name__ if text else "none"
            raise ValueError(
                f"key must be an API key or a token; got {given}. Give one, or set {VARIABLE}."
            )
        return cls(text)


_LONGEST_WAIT: Final = 30.0
_MOST: Final = 2**30


@final
class Channel:
    """Requests to one service.

    Parameters
    ----------
    url : str
        Of the service's address for callers: ``https``, or ``http`` to a loopback address.
    key : ApiKey
    timeout : float
        Seconds that one attempt may wait for the service.
    retries : int
        Further attempts where the service cannot be reached, is not ready, or asks to wait.
    ca_file : str or None
        Certificates that sign the service's own; None for those of the system.

    Notes
    -----
    A request that is charged carries an ``Idempotency-Key``, the same one in every attempt: an
    answer whose reply was lost is told again and not charged again. Redirections are refused, so
    that the key goes to the address it was given for only.
    """

    def __init__(
        self, url: str, key: ApiKey, *, timeout: float, retries: int, ca_file: str | None
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise ValueError(
                "url must be the address of a service, for instance "
                "https://models.example.org:8470, without a user or a password"
            )
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise ValueError(
                "url must begin with https unless it is a loopback address: over http, whoever "
                "is on the way reads the key and the rows"
            )
        self._host, self._port, self._base = parts.hostname, parts.port, parts.path.rstrip("/")
        # The default context checks the certificate's chain and its name.
        self._tls = ssl.create_default_context(cafile=ca_file) if parts.scheme == "https" else None
        self._key, self._timeout, self._retries = key, timeout, retries

    def get(self, *path: str) -> Any:
        """Return the document at a path, whose parts are quoted."""
        return self._ask("GET", path, b"", {})

    def post(self, *path: str, body: bytes, headers: Mapping[str, str]) -> Any:
        """Return the reply to a body, charged at most once however often it is sent."""
        own = {**headers, "Idempotency-Key": str(uuid.uuid4())}
        return self._ask("POST", path, body, own)

    def _ask(
        self, method: str, path: tuple[str, ...], body: bytes, headers: Mapping[str, str]
    ) -> Any:
        where = "/".join([self._base, *(quote(each, safe="") for each in path)])
        own = {"Authorization": f"Bearer {self._key.reveal()}", "Accept": "application/json"}
        asked = method, where, body or None, {**own, **headers}
        for attempt in range(self._retries + 1):
            wait = min(0.1 * 2 ** min(attempt, 10), _LONGEST_WAIT)
            try:
                connection = connection_to(self._host, self._port, self._timeout, self._tls)
                response, content = exchanged(connection, *asked)
            except ssl.SSLCertVerificationError as error:
                raise ServiceUnavailableError(
                    "certificate",
                    0,
                    f"the certificate of {self._host} is not trusted ({error.verify_message}); "
                    "give ca_file where the service has an authority of its own",
                ) from None
            except (OSError, http.client.HTTPException) as error:
                failed: ServiceError = ServiceUnavailableError(
                    "unreachable",
                    0,
                    f"{self._host} cannot be reached, or broke off ({type(error).__name__})",
                )
            else:
                document = _document(content)
                if response.status < 300 and document is not None:
                    return document
                with understood():
                    failed = refusal(response.status, document or {})
                if not isinstance(failed, ServiceUnavailableError):
                    raise failed
                delay = failed.facts.get("retry_after")
                if isinstance(delay, (int, float)):  # of any size, and perhaps no number at all
                    wait = max(wait, min(delay, _LONGEST_WAIT))
            if attempt < self._retries:
                time.sleep(wait)
        raise failed


def _document(content: bytes) -> dict[str, Any] | None:
    """Return the object of a body; None where it holds something else."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


@contextmanager
def understood() -> Iterator[None]:
    """Read a reply in the block: what has another form than a service's is none of a service."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        raise refusal(200, {}) from None


def connection_to(
    host: str, port: int | None, timeout: float, tls: ssl.SSLContext | None
) -> http.client.HTTPConnection:
    """Return a connection that is opened when it is asked: with TLS, where a context is given."""
    if tls is None:
        return http.client.HTTPConnection(host, port, timeout=timeout)
    return http.client.HTTPSConnection(host, port, timeout=timeout, context=tls)


def exchanged(
    connection: http.client.HTTPConnection,
    method: str,
    where: str,
    body: bytes | None,
    headers: Mapping[str, str],
) -> tuple[http.client.HTTPResponse, bytes]:
    """Return the response to the one request of a connection, and all of its body.

    Raises
    ------
    OSError, http.client.HTTPException
        When there is none, or it was cut off.
    """
    try:
        connection.request(method, where, body, headers)
        response = connection.getresponse()
        # A reply that was cut off is none: the same key gets it again, at no further charge.
        content = response.read(_MOST)
        if response.getheader("Content-Length", str(len(content))) != str(len(content)):
            raise http.client.IncompleteRead(b"")
        return response, content
    finally:
        connection.close()


def is_loopback(host: str | None) -> bool:
    """Return whether a host is this machine itself, as it is written: no name is looked up."""
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return host == "localhost"


def is_protected(url: str) -> bool:
    """Return whether nobody on the way can read or change what is asked at an address."""
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))
    return is_safe and bool(parts.hostname)


PREFIX: Final = "urn:pacsklearn:problem:"
"""Begins the type of every problem that a service tells."""
_ERRORS: Final[dict[str, type[ServiceError]]] = {
    "budget-exhausted": ServiceBudgetError,
    "quota-exhausted": ServiceBudgetError,
    "price-too-high": PriceError,
    **dict.fromkeys(
        ("bad-request", "invalid", "too-large", "unsupported-media-type", "key-reused"),
        ServiceRequestError,
    ),
    # The same request may succeed later.
    **dict.fromkeys(
        ("in-progress", "too-many-requests", "unavailable", "timeout"), ServiceUnavailableError
    ),
}


def refusal(status: int, document: Mapping[str, Any]) -> ServiceError:
    """Return the error of a response.

    One that only a proxy can have written has a kind of its status.
    """
    kind = document.get("type")
    if not isinstance(kind, str) or not kind.startswith(PREFIX):
        kind = "unavailable" if status in (502, 503, 504) else f"http-{status}"
        detail = "the address answers, but not as a pacsklearn service does; check the url"
        document = {"detail": detail}
    kind = kind.removeprefix(PREFIX)
    detail = document.get("detail") or document.get("title") or ""
    return _ERRORS.get(kind, ServiceError)(kind, status, str(detail), further(document))


def further(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a problem beside those that every one has."""
    own = ("type", "title", "status", "detail", "error")
    return {name: value for name, value in document.items() if name not in own}
