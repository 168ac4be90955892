"""Founding a ledger is an act of its own; opening one never founds it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from pacsklearn.accounting.database import close, run
from pacsklearn.accounting.entry import Founding, is_sound, without_password
from pacsklearn.accounting.new_file import TakenError, new_file
from pacsklearn.accounting.rows import Rows, open_rows
from pacsklearn.accounting.schema import migrate, schema_version
from pacsklearn.accounting.sqlite_database import SQLITE, connect
from pacsklearn.core.accounts import Terms
from pacsklearn.core.ledger import time_text
from pacsklearn.exceptions import LedgerCorruptedError, LedgerError, LedgerMismatchError

T = TypeVar("T")


def write_founding(address: str, dataset: str, terms: Terms) -> Founding:
    """Write the first link of a data set's chain; makes the file of an SQLite database.

    Raises
    ------
    LedgerError
        When there is one already, or an empty file is in the way.
    """
    founding = Founding(
        dataset,
        terms.ceiling,
        terms.unit,
        time_text(),
        secrets.token_hex(16),
        per_user=terms.per_user,
        per_project=terms.per_project,
    )
    founding = replace(founding, hash=founding.digest())
    path = Path(address.removeprefix(SQLITE))
    if address.startswith(SQLITE) and not path.exists() and _make_file(path, founding):
        return founding

    as_owner(address, lambda connection: insert(connection, founding, without_password(address)))
    return founding


def as_owner(address: str, work: Callable[[Connection], T]) -> T:
    """Do something in a database of this version's schema, as its owner."""

    def write(connection: Connection) -> T:
        migrate(connection)
        return work(connection)

    result = run(address, write, write=True)
    close(address)  # a server's connection is older than the writers' role
    return result


def upgrade(address: str) -> int:
    """Bring a database of ledgers to this version's schema; as its owner.

    Returns
    -------
    int
        Version of the schema it had.

    Raises
    ------
    LedgerError
        When there is no ledger in it.
    """
    before = run(address, schema_version, write=False)
    if before == 0:
        raise LedgerError(f"There is no ledger at {without_password(address)}.")
    as_owner(address, lambda _: None)
    return before


def stored_founding(address: str, dataset: str) -> Founding:
    """First link of a data set's chain.

    Raises
    ------
    LedgerError
        When there is none: a ledger that was moved or lost must not come back with nothing spent.
    """

    def look(connection: Connection) -> Founding | None:
        version = schema_version(connection)
        return open_rows(connection, dataset).founding(lock=False)[0] if version else None

    founding = run(address, look, write=False)
    if founding is None:
        name = without_password(address)
        raise LedgerError(
            f"{name} has no ledger for the dataset {dataset!r}; found it first: "
            f"`pacsklearn ledger found {name} --ceiling ...`."
        )
    if not is_sound(founding):
        raise LedgerCorruptedError(0, "(the account) is not the one that was founded")
    return founding


def expected(founding: Founding, ceiling: float | None, unit: str | None) -> Founding:
    """Return the founding, if its ceiling and unit are those that are given."""
    dataset = founding.name
    if ceiling is not None and ceiling != founding.ceiling:
        raise LedgerMismatchError(
            f"The dataset {dataset!r} has the ceiling {founding.ceiling!r}, not {ceiling!r}; a "
            "ceiling is never changed. Leave it out to use the stored one."
        )
    if unit is not None and unit != founding.unit:
        raise LedgerMismatchError(
            f"The dataset {dataset!r} is counted in {founding.unit}, not in {unit}."
        )
    return founding


def foundings(connection: Connection) -> list[Founding]:
    """Of all data sets in a database."""
    rows = connection.exec_driver_sql("SELECT * FROM datasets ORDER BY name").all()
    return [Founding(*row) for row in rows]


def _make_file(path: Path, founding: Founding) -> bool:
    """Make the file as a whole, so that no other process ever sees half of it."""
    try:
        with new_file(path) as draft:
            connect(str(draft), "rwc").close()
            as_owner(SQLITE + str(draft), lambda new: insert(new, founding, str(path)))
    except TakenError:
        return False
    return True


def insert(connection: Connection, founding: Founding, where: str) -> Rows:
    """Write the first link of a data set's chain, where there is none.

    Raises
    ------
    LedgerError
    """
    rows = open_rows(connection, founding.name)
    if rows.founding(lock=False)[0] is not None:
        raise LedgerError(
            f"{where} has a ledger for the dataset {founding.name!r} already, which is left as it "
            "is: a ledger is founded once. Found or restore one for another data set, or in "
            "another place."
        )
    rows.insert_founding(founding)
    return rows
