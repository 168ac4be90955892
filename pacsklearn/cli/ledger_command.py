"""``pacsklearn ledger``: what was charged, and whether it is still what was written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from pacsklearn.cli.charged_ledger import ledger_uri
from pacsklearn.cli.console import VIOLATED, Output, guarded
from pacsklearn.cli.options import json_of, number
from pacsklearn.kernel.ledger.address import database_address, without_password
from pacsklearn.kernel.ledger.row import Position
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.kernel.ledger.sqlite_file import ledger_path
from pacsklearn.universe.open_ledger import open_ledger
from pacsklearn.upkeep.verification import is_ahead_of, ledger_summary, verify_ledger

ledger_app = typer.Typer(
    help="Found a ledger, look at it, verify it, copy it, repair it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Address: TypeAlias = Annotated[str, typer.Argument(help="clinic.db, or postgresql://...")]
Dataset: TypeAlias = Annotated[str, typer.Option(help="Data set within the database.")]
Unit: TypeAlias = Annotated[str, typer.Option(help="What it counts.")]
AnyUnit: TypeAlias = Annotated[
    str | None, typer.Option(help="Refuse a ledger that counts in another unit.")
]
Against: TypeAlias = Annotated[
    Path | None, typer.Option(help="Statement of a release: the ledger must not be behind it.")
]


@ledger_app.command()
@guarded
def found(
    address: Address,
    *,
    ceiling: Annotated[str, typer.Option(help="Most that may ever be charged; 1/2.")],
    per_user: Annotated[str | None, typer.Option(help="Most for each user.")] = None,
    per_project: Annotated[str | None, typer.Option(help="Most for each project.")] = None,
    high_water: Annotated[
        Path | None, typer.Option(help="New file that states the end, before every commit.")
    ] = None,
    dataset: Dataset = "default",
    unit: Unit = "nats",
) -> Output:
    """Found the ledger of a data set: once, and with a ceiling that is never changed."""
    ledger: Any = SharedLedger.found(
        ledger_uri(address),
        number(ceiling, "ceiling"),
        dataset=dataset,
        unit=unit,
        per_user=None if per_user is None else number(per_user, "per_user"),
        per_project=None if per_project is None else number(per_project, "per_project"),
        high_water="" if high_water is None else str(high_water),
    )
    facts = ledger_summary(ledger) | {
        "per_user": ledger.per_user,
        "per_project": ledger.per_project,
    }
    text = f"founded {ledger.uri}, data set {dataset!r}: {ledger.ceiling:.6g} {ledger.unit}"
    return Output(facts, text)


@ledger_app.command()
@guarded
def show(address: Address, *, dataset: Dataset = "default", unit: AnyUnit = None) -> Output:
    """Show the ceiling, what was charged, and every event."""
    facts = ledger_summary(_opened(address, dataset, unit))
    lines = [
        f"{facts['address']}, data set {facts['dataset']!r}",
        (
            f"spent {facts['spent']:.6g} of {facts['ceiling']:.6g} {facts['unit']}, "
            f"{facts['remaining']:.6g} left"
        ),
        f"position {facts['position']}",
        "",
        *(
            f"{number:>5}  {event['kind']:<18} {event['charge']:>12.6g}  {event['backend']}"
            for number, event in enumerate(facts["events"], start=1)
        ),
    ]
    return Output(facts, "\n".join(lines))


@ledger_app.command()
@guarded
def verify(
    address: Address,
    *,
    dataset: Dataset = "default",
    unit: AnyUnit = None,
    position: Annotated[
        str | None, typer.Option(help="What `show` printed then: finds an older copy put back.")
    ] = None,
    against: Against = None,
) -> Output:
    """Recompute every hash and sum. Exits with 1 if a row was altered or rows are missing."""
    expected = [] if position is None else [Position.parse(position)]
    if against is not None:
        dataset, head = _head(against)
        expected.append(head)
    ledger = _opened(address, dataset, unit)
    last = verify_ledger(ledger)
    ahead = all(is_ahead_of(ledger, each) for each in expected)
    facts = {
        "address": ledger.uri,
        "dataset": ledger.dataset,
        "verified": ahead,
        "rows": last.sequence,
        "position": str(last),
    }
    text = f"{last.sequence} rows are as they were written; position {facts['position']}"
    if not ahead:
        text = "Rows are missing: the ledger is behind the position, or it is another ledger."
    return Output(facts, text, 0 if ahead else VIOLATED)


@ledger_app.command()
@guarded
def repair(
    address: Address,
    *,
    to: Annotated[Path, typer.Option(help="New file for the repaired ledger.")],
    signed_by: Annotated[str, typer.Option(help="Who answers for it; goes into the ledger.")],
    reason: Annotated[str, typer.Option(help="Why; goes into the ledger.")],
) -> Output:
    """Copy a damaged ledger up to its first wrong row, and charge again what was set aside.

    The damaged file is not changed. The rows set aside are beside the copy, in a file whose digest
    the copy holds. Ledgers alone are copied: what else is in the database, a service's data sets,
    models and keys, is not in the copy.
    """
    from pacsklearn.upkeep.repair import repair as repaired

    target = to.expanduser().resolve()
    repairs = repaired(_source(address), target, signed_by=signed_by, reason=reason)
    lines = [
        f"data set {name!r}: {each['kept']} rows kept, {each['set_aside']} set aside, "
        f"{each['charged']:.6g} charged for them"
        + (f" ({each['assumed']})" if each["assumed"] else "")
        for name, each in repairs.items()
    ]
    lines += ["", f"repaired   {target}", f"set aside  {target}.aside.json"]
    return Output({"ledger": str(target), "datasets": repairs}, "\n".join(lines))


@ledger_app.command()
@guarded
def migrate(address: Address) -> Output:
    """Bring a database to this version's tables; on a server this takes the owner's login."""
    from pacsklearn.kernel.ledger.log import VERSION
    from pacsklearn.upkeep.verification import upgrade

    before = upgrade(database_address(ledger_uri(address)))
    text = f"version {before} of the tables" + ("" if before == VERSION else f", now {VERSION}")
    return Output({"before": before, "version": VERSION}, text)


@ledger_app.command()
@guarded
def backup(
    address: Address,
    *,
    to: Annotated[Path, typer.Option(help="New file for the copy.")],
) -> Output:
    """Copy a ledger that is in use to a file, with what waits in its -wal, and verify the copy."""
    from pacsklearn.upkeep.backup import backup as copied

    target = to.expanduser().resolve()
    return _copied(target, copied(_source(address), target))


@ledger_app.command()
@guarded
def restore(
    copy: Annotated[Path, typer.Argument(help="From `pacsklearn ledger backup`.")],
    *,
    to: Annotated[str, typer.Option(help="Where the ledger was: file or server without it.")],
    against: Against = None,
    new_start: Annotated[
        bool,
        typer.Option(
            "--new-start",
            help="Accept that it ends before the high-water file, which is written anew.",
        ),
    ] = False,
) -> Output:
    """Put a backup in the place of a ledger that was lost.

    What was charged since it was made is not in it: budget that was spent would be spent again. So
    one that is behind a statement, or behind the ledger's high-water file, is refused.
    """
    from pacsklearn.upkeep.backup import restore as restored

    target = _source(to)
    heads = [] if against is None else [_head(against)]
    positions = restored(copy.expanduser().resolve(), target, heads, new_start=new_start)
    return _copied(target, positions)


@ledger_app.command()
@guarded
def mark(address: Address, *, dataset: Dataset = "default") -> Output:
    """Write the high-water file of a ledger anew, after it was lost."""
    from pacsklearn.upkeep.backup import mark as marked

    position = marked(database_address(ledger_uri(address)), dataset)
    return Output({"position": str(position)}, f"position {position}")


def _copied(target: Path | str, positions: dict[str, Position]) -> Output:
    copied = {name: str(position) for name, position in positions.items()}
    lines = [f"data set {name!r}: position {position}" for name, position in copied.items()]
    name = without_password(str(target))
    return Output(
        {"ledger": name, "positions": copied},
        "\n".join([*lines, "", f"written to {name}"]),
    )


def _head(statement: Path) -> tuple[str, Position]:
    """Return the data set and position in a statement that was made with a ledger."""
    document = json_of(statement)
    guarantee = document.get("guarantee", document) if isinstance(document, dict) else {}
    head = guarantee.get("ledger_head") if isinstance(guarantee, dict) else None
    if not isinstance(head, str) or " " not in head:
        raise ValueError(
            f"against must be a statement of a release that was charged to a ledger in a database: "
            f"{statement.name} has no ledger_head."
        )
    dataset, _, position = head.rpartition(" ")
    return dataset, Position.parse(position)


def _source(address: str) -> Path | str:
    """Return the file, or address of a server."""
    uri = ledger_uri(address)
    return ledger_path(uri) if uri.startswith("sqlite:") else database_address(uri)


def _opened(address: str, dataset: str, unit: str | None) -> Any:
    return open_ledger(ledger_uri(address), ceiling=None, dataset=dataset, unit=unit)
