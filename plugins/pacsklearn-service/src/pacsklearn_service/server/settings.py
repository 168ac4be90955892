"""How a service is run, from one file: everything that it does not say is closed."""

from __future__ import annotations

import os
import re
import ssl
import tomllib
from pathlib import Path
from typing import Annotated, Any, Final, Self, final

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from pacsklearn_service.channel import is_loopback, is_protected

PREFIX: Final = "PACSKLEARN_SERVICE_"
"""Begins the names of environment variables that state what the file leaves out."""


def _number(value: Any) -> Any:
    if isinstance(value, bool):  # slot = true would be a slot of a second
        raise ValueError("must be a number")
    return value


Text = Annotated[str, Field(min_length=1)]
Port = Annotated[int, BeforeValidator(_number), Field(ge=0, le=65535)]
Count = Annotated[int, BeforeValidator(_number), Field(ge=1, le=2**53)]
Seconds = Annotated[float, BeforeValidator(_number), Field(gt=0, le=1e9)]
_UNPROTECTED: Final = "must begin with https unless it is a loopback address"


@final
class Oidc(BaseModel):
    """Whose tokens are believed.

    Parameters
    ----------
    issuer, audience : str
        What tokens must say.
    jwks : str
        URL of the issuer's public keys.
    user_claim, project_claim, scope_claim : str
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: Text
    audience: Text
    jwks: Text
    user_claim: Text = "sub"
    project_claim: Text = "project"
    scope_claim: Text = "scope"

    @field_validator("jwks")
    @classmethod
    def _check_protected(cls, url: str) -> str:
        if not is_protected(url):
            raise ValueError(_UNPROTECTED)
        return url


@final
class Settings(BaseSettings):
    """Places, addresses and limits of a service.

    Parameters
    ----------
    database : str
        ``sqlite:///service.db``, or ``postgresql://host/name``.
    key_file : Path
        32 random bytes, outside the database; made where it is missing.
    high_water : Path, optional
        Folder with a file for each data set that is registered, which states where its ledger ends:
        a database that ends before is an older copy, and is refused. Best on another disk than the
        database; every process of the service must see it under this name. Beside the key file
        unless given.
    host, curator_host : str
        Where callers ask and where the curator works: loopback, unless TLS files are given or a
        proxy that ends TLS is trusted.
    port, curator_port : int
        0: any free one.
    url, curator_url : str, optional
        Where the other coordinators of this database reach this one's addresses, to pass requests
        on for data sets that it leads; host and port unless given.
    ca_file : str, optional
        Certificates that sign the coordinators' own; None for those of the system.
    health_port : int, optional
        Of this machine alone, where ``/live`` and ``/ready`` are answered, also by a standby.
    workers : int
        Processes that answer HTTP and hold no secret.
    certificate, private_key : str, optional
        TLS files.
    trust_proxy : bool
        Believe ``X-Forwarded-For`` and ``X-Forwarded-Proto``: only behind a proxy that sets them.
    oidc : Oidc, optional
    seconds, table_seconds : float
        After which a request is given up, and one of a curator that brings a table or a model.
    slot : float, optional
        Answers leave at the end of a slot of so many seconds, in bodies of padded length.
    lease : float
        Seconds that a coordinator that has died keeps others waiting.
    most_bytes, most_rows : int
        Of one request.
    most_table_bytes, most_table_rows : int
        Of a table that is registered, or a model that is added.
    most_jobs, most_job_bytes : int
        Jobs of a user that are kept, and bytes of their rows together.
    most_connections, most_worker_bytes : int
        Of one web process.
    keep_jobs, keep_replies : float
        Seconds after which what has ended is forgotten.
    requests_per_minute, previews_per_minute, failures_per_minute : int
        Of each caller; of failed log-ins of each address.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", frozen=True, extra="forbid"
    )

    database: str = "sqlite:///pacsklearn-service.db"
    key_file: Path = Path("pacsklearn-service.key")
    high_water: Path | None = None
    host: str = "127.0.0.1"
    port: Port = 8470
    curator_host: str = "127.0.0.1"
    curator_port: Port = 8471
    url: str | None = None
    curator_url: str | None = None
    ca_file: str | None = None
    health_port: Port | None = None
    workers: Annotated[Count, Field(le=64)] = 1
    certificate: str | None = None
    private_key: str | None = None
    trust_proxy: bool = False
    oidc: Oidc | None = None
    seconds: Seconds = 60.0
    table_seconds: Seconds = 600.0
    slot: Seconds | None = None
    lease: Annotated[Seconds, Field(ge=0.1)] = 3.0
    most_bytes: Count = 16 * 2**20
    most_rows: Count = 10_000
    most_table_bytes: Count = 2**28
    most_table_rows: Count = 5_000_000
    most_jobs: Count = 20
    most_job_bytes: Count = 2**26
    most_connections: Annotated[Count, Field(ge=2)] = 2000
    most_worker_bytes: Annotated[Count, Field(ge=2**28)] = 3 * 2**30
    keep_jobs: Seconds = 7 * 86400.0
    keep_replies: Seconds = 86400.0
    requests_per_minute: Count = 6000
    previews_per_minute: Count = 60
    failures_per_minute: Count = 30

    @field_validator("database")
    @classmethod
    def _check_database(cls, address: str) -> str:
        if not re.match(r"sqlite:|postgres(ql)?(\+\w+)?:", address):
            from pacsklearn.kernel.ledger.address import without_password  # workers do without it

            raise ValueError(
                "must be an address such as 'sqlite:///service.db' or 'postgresql://host/name', "
                f"got {without_password(address)!r}"
            )
        return address

    @model_validator(mode="after")
    def _check_addresses(self) -> Self:
        is_safe = self.certificate is not None or self.trust_proxy
        for name, host in (("host", self.host), ("curator_host", self.curator_host)):
            if not (is_safe or is_loopback(host)):
                raise ValueError(
                    f"{name} must be a loopback address (127.0.0.1) unless TLS files are given "
                    "(certificate, private_key) or a proxy that ends TLS is trusted "
                    f"(trust_proxy); got {host!r}"
                )
        for name, url in (("url", self.url), ("curator_url", self.curator_url)):
            if url and not is_protected(url):
                raise ValueError(
                    f"{name} {_UNPROTECTED}: requests are passed on with the keys of who sent them"
                )
        own = (self.host, self.port), (self.curator_host, self.curator_port)
        places = [each for each in (*own, ("127.0.0.1", self.health_port)) if each[1]]
        if len({*places}) < len(places):  # it would stand by for itself
            raise ValueError("port, curator_port and health_port of one host must differ")
        if (self.certificate is None) != (self.private_key is None):
            raise ValueError("certificate and private_key must be given together")
        return self

    @classmethod
    def read(cls, path: Path | None) -> Settings:
        """Return the settings of a TOML file; what it leaves out is looked up in the environment.

        Raises
        ------
        ValueError
            Names the settings that are wrong, and quotes none: one of them may hold a password.
        """
        try:
            content = b"" if path is None else path.expanduser().read_bytes()
            facts = tomllib.loads(content.decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            where = str(error).rpartition("(")[2].rstrip(")")  # what stands there may be secret
            raise ValueError(f"{path} is no TOML file: {where}.") from None
        # The client's own variable begins alike.
        known = {f"{PREFIX}{name}".upper() for name in (*cls.model_fields, "key")}
        unknown = [
            name
            for name in sorted(os.environ)
            if name.upper().startswith(PREFIX) and name.upper().partition("__")[0] not in known
        ]
        if unknown:
            raise ValueError(
                f"The environment states what is no setting: {', '.join(unknown)}. (Kubernetes "
                "sets such for a Service of this name; enableServiceLinks: false keeps them out.)"
            )
        try:
            return cls(**facts)
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(map(str, each['loc']))}: {each['msg']}".removeprefix(": ")
                for each in error.errors(include_input=False, include_url=False)
            ).replace("Value error, ", "")
        raise ValueError(f"The settings cannot be used. {wrong}.")

    def check_files(self) -> None:
        """Refuse TLS files that no web worker could use: it would end, and be begun again.

        Raises
        ------
        ValueError
        """
        name = "ca_file"
        try:
            ssl.create_default_context(cafile=self.ca_file)
            if self.certificate is not None:
                own, name = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), "certificate"
                own.load_verify_locations(self.certificate)
                name = "private_key"
                # Nobody is there to be asked for the password of a key.
                own.load_cert_chain(self.certificate, self.private_key, password=lambda: "-")
        except OSError as error:
            raise ValueError(
                f"{name} must be a PEM file that can be read without a password, and private_key "
                f"the certificate's ({error.strerror})"
            ) from None

    @property
    def ledger_ends(self) -> Path:
        """Folder of the high-water files."""
        folder = self.high_water or self.key_file.with_suffix(".high-water")
        return folder.expanduser().absolute()

    def reached_at(self, caller: int, curator: int) -> tuple[str, str]:
        """Return where other coordinators reach this one, whose ports are given."""
        scheme = "http" if self.certificate is None else "https"
        own = (self.url, self.host, caller), (self.curator_url, self.curator_host, curator)
        return tuple(  # type: ignore[return-value] # two of them
            url or f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
            for url, host, port in own
        )

    def for_workers(self) -> str:
        """Return JSON of what a web process knows: neither where secrets are, nor a password."""
        return self.model_dump_json(exclude={"database", "key_file", "high_water"})
