"""How a service is run: everything that is not said is closed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, final

from pydantic import TypeAdapter


@final
@dataclass(frozen=True)
class Oidc:
    """Whose tokens are believed.

    Parameters
    ----------
    issuer, audience : str
        What tokens must say.
    jwks : str
        URL of the issuer's public keys.
    user_claim, project_claim, scope_claim : str
    """

    issuer: str
    audience: str
    jwks: str
    user_claim: str = "sub"
    project_claim: str = "project"
    scope_claim: str = "scope"


@final
@dataclass(frozen=True)
class Settings:
    """Limits and addresses of a service.

    Parameters
    ----------
    host, curator_host : str
        Loopback unless said otherwise.
    port, curator_port : int
    workers : int
        Processes that answer HTTP and hold no secret.
    most_bytes, most_rows : int
        Of one request.
    seconds : float
        After which a request is given up.
    slot : float or None
        Answers leave at the end of a slot of so many seconds, in bodies of padded length.
    lease : float
        Seconds that a coordinator that has died keeps others waiting.
    requests_per_minute, previews_per_minute, failures_per_minute : int
        Of each caller; of failed log-ins of each address.
    trust_proxy : bool
        Believe ``X-Forwarded-For`` and ``X-Forwarded-Proto``: only behind a proxy that sets them.
    certificate, private_key : str or None
        TLS files.
    oidc : Oidc or None
    high_water : str
        Folder with a file for each data set that is registered, which states where its ledger ends:
        a database that ends before is an older copy, and is refused. Best on another disk than the
        database; every process of the service must see it under this name.
    """

    host: str = "127.0.0.1"
    port: int = 8470
    curator_host: str = "127.0.0.1"
    curator_port: int = 8471
    workers: int = 1
    most_bytes: int = 16 * 2**20
    most_rows: int = 10_000
    seconds: float = 60.0
    slot: float | None = None
    lease: float = 3.0
    requests_per_minute: int = 6000
    previews_per_minute: int = 60
    failures_per_minute: int = 30
    trust_proxy: bool = False
    certificate: str | None = None
    private_key: str | None = None
    oidc: Oidc | None = field(default=None)
    high_water: str = "pacsklearn-service.high-water"


SETTINGS: Final = TypeAdapter(Settings)
"""Settings as JSON, for a worker; they hold no secret."""
