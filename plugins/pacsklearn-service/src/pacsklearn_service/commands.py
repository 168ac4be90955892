"""``pacsklearn serve``: answer over HTTP."""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from pacsklearn.cli.console import guarded
from pacsklearn.exceptions import PluginError

_SERVER = (
    "cryptography",
    "fastapi",
    "jinja2",
    "joserfc",
    "limits",
    "prometheus_client",
    "pyarrow",
    "python_multipart",
    "uvicorn",
)


@guarded
def serve(
    *,
    database: Annotated[
        str, typer.Option(help="sqlite:///service.db, or postgresql://host/name.")
    ] = "sqlite:///pacsklearn-service.db",
    key_file: Annotated[
        Path, typer.Option(help="32 random bytes, outside the database; made where it is missing.")
    ] = Path("pacsklearn-service.key"),
    high_water: Annotated[
        Path | None,
        typer.Option(
            help="Folder that states where ledgers end, which an older database is refused by; "
            "beside the key file unless given."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Where callers ask.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Its port; 0: any free.")] = 8470,
    curator_host: Annotated[str, typer.Option(help="Where the curator works.")] = "127.0.0.1",
    curator_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Its port; 0: any free.")
    ] = 8471,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Web processes.")] = 1,
    slot: Annotated[
        float | None, typer.Option(help="Seconds: every answer leaves at the end of a slot.")
    ] = None,
    certificate: Annotated[str | None, typer.Option(help="TLS certificate (PEM).")] = None,
    private_key: Annotated[str | None, typer.Option(help="Its key (PEM).")] = None,
    trust_proxy: Annotated[
        bool, typer.Option("--trust-proxy", help="Behind a proxy that ends TLS.")
    ] = False,
    oidc_issuer: Annotated[str | None, typer.Option(help="Whose tokens are believed.")] = None,
    oidc_audience: Annotated[str | None, typer.Option(help="What they must be for.")] = None,
    oidc_jwks: Annotated[str | None, typer.Option(help="URL of the issuer's keys.")] = None,
    new_curator: Annotated[
        bool, typer.Option("--new-curator", help="End curators' keys, and write a new one.")
    ] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="A data set, a model and a key to try, in a new folder.")
    ] = False,
) -> None:
    """Answer over HTTP: callers on one address, the curator on another."""
    missing = [name for name in _SERVER if find_spec(name) is None]
    if missing:
        raise PluginError(
            f"A service needs {', '.join(missing)}, which the client does without. In a copy of "
            'pacsklearn\'s repository: pip install . "./plugins/pacsklearn-service[server]"'
        )
    from pacsklearn.cli.named_estimator import named_estimator
    from pacsklearn.kernel.ledger.log import database_address
    from pacsklearn_service.server.answering.coordinator import Coordinator
    from pacsklearn_service.server.founding import register_curator, register_demo
    from pacsklearn_service.server.server import Server, check_settings
    from pacsklearn_service.server.settings import Oidc, Settings
    from pacsklearn_service.server.vault import Vault, make_key_file

    given = [oidc_issuer, oidc_audience, oidc_jwks]
    if any(given) and not all(given):
        raise ValueError("oidc_issuer, oidc_audience and oidc_jwks must be given together.")
    if demo and not port:
        raise ValueError("demo prints a call to try, which names its port; give port, not 0.")
    settings = Settings(
        host=host,
        port=port,
        curator_host=curator_host,
        curator_port=curator_port,
        workers=workers,
        slot=slot,
        certificate=certificate,
        private_key=private_key,
        trust_proxy=trust_proxy,
        oidc=Oidc(*(str(each) for each in given)) if all(given) else None,
    )
    check_settings(settings)
    if demo:
        folder = Path(tempfile.mkdtemp(prefix="pacsklearn-demo-"))
        database, key_file = f"sqlite:///{folder / 'service.db'}", folder / "service.key"
    ends = (high_water or key_file.with_suffix(".high-water")).expanduser().absolute()
    logging.basicConfig(level=logging.WARNING, format="%(name)s %(levelname)s %(message)s")
    # Before a file is made: the plugin that the address needs may not be there.
    address = database_address(os.environ.get("PACSKLEARN_SERVICE_DATABASE") or database)
    if not key_file.expanduser().exists():
        make_key_file(key_file)
        typer.echo(
            f"made {key_file}: back it up, apart from the database; nothing opens without it"
        )
    vault = Vault.from_file(key_file)
    coordinator = Coordinator(
        address, vault, replace(settings, high_water=str(ends)), named_estimator
    )
    typer.echo(f"statements are signed by {base64.b64encode(vault.public_key).decode()}")
    token = key_file.expanduser().with_suffix(".curator")

    def begin() -> None:
        nonlocal new_curator
        anew, new_curator = new_curator, False  # once, however often this process takes over
        if register_curator(coordinator, token, anew=anew):
            typer.echo(f"the curator's key is in {token}")
        if demo:
            key = register_demo(coordinator)
            typer.echo(f"try it:\n{_example(port, key)}")

    coordinator.on_lead(begin)
    asyncio.run(_run(Server, coordinator))


async def _run(kind: type, coordinator: object) -> None:
    await kind(coordinator).run()


def _example(port: int, key: str) -> str:
    row = ", ".join(["1.0"] * 30)
    body = f'{{"instances": [[{row}]]}}'
    return (
        f"curl -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \\\n"
        f"  -d '{body}' http://127.0.0.1:{port}/invocations"
    )
