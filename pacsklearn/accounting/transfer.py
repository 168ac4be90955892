"""All rows of a database, read at one moment and written to another one."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from pacsklearn.accounting.chain import sound_rows
from pacsklearn.accounting.database import close, run
from pacsklearn.accounting.entry import Entry, Founding, Position, without_password
from pacsklearn.accounting.founding import foundings
from pacsklearn.accounting.rows import open_rows
from pacsklearn.accounting.schema import check_version, migrate, schema_version
from pacsklearn.accounting.sqlite_database import SQLITE
from pacsklearn.exceptions import LedgerError

__all__ = ["all_rows", "write_all"]


def all_rows(address: str) -> list[tuple[Founding, list[Entry]]]:
    """Every data set of a database with its rows, as they stand: unchecked.

    Parameters
    ----------
    address : str
        Of an SQLite file or a server.

    Raises
    ------
    LedgerError
        When there is no ledger.
    """

    def read(connection: Connection) -> list[tuple[Founding, list[Entry]]]:
        version = schema_version(connection)
        check_version(version)
        if version == 0:
            raise LedgerError(f"There is no ledger at {without_password(address)}.")
        return [
            (founding, list(open_rows(connection, founding.name).after(0)))
            for founding in foundings(connection)
        ]

    return run(address, read, write=False)


def write_all(
    address: str, datasets: Iterable[tuple[Founding, list[Entry]]]
) -> dict[str, Position]:
    """Write data sets with all their rows to a database that has none of them.

    Parameters
    ----------
    address : str
        Of an empty SQLite file, or of a server, as the owner of its tables.
    datasets : iterable of (Founding, list of Entry)

    Returns
    -------
    dict
        Position of each data set.

    Raises
    ------
    LedgerError
        When a data set is there already; nothing is written then.
    LedgerCorruptedError
        When a row is wrong; nothing is written then.
    """
    sound = [(founding, list(sound_rows(founding, entries))) for founding, entries in datasets]

    def write(connection: Connection) -> None:
        if not address.startswith(SQLITE):
            connection.exec_driver_sql("SET LOCAL ROLE NONE")
        migrate(connection)
        for founding, entries in sound:
            rows = open_rows(connection, founding.name)
            if rows.founding(lock=False)[0] is not None:
                raise LedgerError(
                    f"{without_password(address)} has a ledger for the dataset {founding.name!r} "
                    "already, which is left as it is; restore to another database."
                )
            rows.found(founding)
            rows.add(entries)

    run(address, write, write=True)
    close(address)  # a server's connection is older than the writers' role
    return {
        founding.name: Position(len(entries), entries[-1].hash if entries else founding.hash)
        for founding, entries in sound
    }
