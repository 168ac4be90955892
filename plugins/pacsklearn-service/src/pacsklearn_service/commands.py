"""``pacsklearn service``: answer over HTTP, and add models to a service that runs."""

from __future__ import annotations

import asyncio
import base64
import gc
import re
from contextlib import suppress
from importlib.metadata import requires
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from pacsklearn.cli.console import guarded
from pacsklearn.cli.options import json_of
from pacsklearn.exceptions import PluginError

if TYPE_CHECKING:
    from pacsklearn_service.server.settings import Settings

Config: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="TOML file with the settings; variables PACSKLEARN_SERVICE_... add what it leaves out."
    ),
]
service = typer.Typer(no_args_is_help=True, help="Answer over HTTP (pacsklearn-service).")


@service.command()
@guarded
def run(
    *,
    config: Config = None,
    new_curator: Annotated[
        bool, typer.Option("--new-curator", help="End curators' keys, and write a new one.")
    ] = False,
) -> None:
    """Answer over HTTP: callers on one address, the curator on another."""
    settings = _settings(config)
    from pacsklearn.kernel.ledger.address import database_address
    from pacsklearn_service.server.answering.coordinator import Coordinator
    from pacsklearn_service.server.founding import register_curator
    from pacsklearn_service.server.log import write_to_stderr
    from pacsklearn_service.server.server import Server
    from pacsklearn_service.server.vault import Vault, make_key_file

    settings.check_files()
    write_to_stderr()
    database_address(settings.database)  # before a file is made: its plugin may not be there
    key_file = settings.key_file.expanduser()
    if not key_file.exists():
        with suppress(FileExistsError):  # another process was first
            make_key_file(key_file)
            typer.echo(
                f"made {key_file}: back it up, apart from the database; nothing opens without it"
            )
    vault = Vault.from_file(key_file)
    coordinator = Coordinator(settings, vault)
    typer.echo(f"statements are signed by {base64.b64encode(vault.public_key).decode()}")
    token = key_file.with_suffix(".curator")
    if register_curator(coordinator, token, anew=new_curator):
        typer.echo(f"the curator's key is in {token}")
    asyncio.run(Server(coordinator).run())
    gc.freeze()  # all is said and written: to look for garbage once more takes seconds


@service.command()
@guarded
def add(
    model: Annotated[Path, typer.Argument(help="Signed bundle (.pac), or a saved session.")],
    *,
    name: Annotated[str, typer.Option(help="What callers name it by.")],
    dataset: Annotated[str, typer.Option(help="Registered data set whose quotas are for it.")],
    key: Annotated[
        Path, typer.Option(help="Public key of who signed the bundle; key of the session's file.")
    ],
    version: Annotated[int, typer.Option(min=1, help="Version of the model.")] = 1,
    recipe: Annotated[
        Path | None,
        typer.Option(help="For a session: JSON with its estimator, params and release."),
    ] = None,
    config: Config = None,
) -> None:
    """Add a model that was fitted elsewhere. Run it on the service's machine; publish it then."""
    settings = _settings(config)
    given = {} if recipe is None else json_of(recipe)
    if not isinstance(given, dict):
        raise ValueError(f"{recipe} must hold a JSON object with estimator, params and release")
    from pydantic import ValidationError

    from pacsklearn.estimators.session_file import read_session
    from pacsklearn_service.server.answering.catalog import Catalog
    from pacsklearn_service.server.problem import Problem
    from pacsklearn_service.server.recipe import Recipe
    from pacsklearn_service.server.store.database import ServiceDatabase
    from pacsklearn_service.server.vault import Vault
    from pacsklearn_service.server.web.schemas import invalid

    vault = Vault.from_file(settings.key_file)
    stated: dict[str, Any] = {"name": name, "version": version, "dataset": dataset, "budget": 1.0}
    database = ServiceDatabase(settings.database)
    try:
        catalog = Catalog(database, vault, settings.ledger_ends)
        if recipe is not None:
            made = catalog.add_session(read_session(model, key), given | stated)
        else:
            if find_spec("pacsklearn_publish") is None:
                raise PluginError(
                    "A bundle needs pacsklearn-publish, which reads it. In a copy of pacsklearn's "
                    "repository: pip install . ./plugins/pacsklearn-publish"
                )
            from pacsklearn_publish.bundle import load_bundle

            with model.open("rb") as file:
                if file.read(18) == b"pacsklearn session":
                    raise ValueError(f"{model} is a session, so --recipe must name its recipe")
            if b"PRIVATE KEY" in key.read_bytes():
                raise ValueError(
                    f"--key {key} is a private key, which belongs to who signs alone; give the "
                    f"public one, which is beside it as {key.name}.pub"
                )
            bundle = load_bundle(model, key=key)
            kind = {"estimator": str(bundle.manifest["model"]["class"])}
            made = catalog.add_bundle(bundle, Recipe(**stated | kind))
    except Problem as problem:
        raise ValueError(problem.detail) from None
    except ValidationError as error:
        raise ValueError(invalid(error.errors()).detail) from None
    finally:
        database.close()
    typer.echo(f"{made} is there; publish it: POST /v1/models/{made}/publish")


def _settings(config: Path | None) -> Settings:
    listed = [each for each in requires(__package__) or () if "server" in each.partition(";")[2]]
    names = [re.split(r"[^\w-]", each)[0].replace("-", "_") for each in listed]
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise PluginError(
            f"A service needs {', '.join(missing)}, which the client does without. In a copy of "
            'pacsklearn\'s repository: pip install . "./plugins/pacsklearn-service[server]"'
        )
    from pacsklearn_service.server.settings import Settings

    return Settings.read(config)
