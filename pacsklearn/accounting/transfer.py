"""All rows of a database, read at one moment and written to another one."""

from __future__ import annotations

from functools import partial
from typing import Final

from sqlalchemy import Connection

from pacsklearn.accounting.chain import sound_rows
from pacsklearn.accounting.database import close, run
from pacsklearn.accounting.entry import Entry, Founding, Position, without_password
from pacsklearn.accounting.founding import foundings
from pacsklearn.accounting.rows import open_rows
from pacsklearn.accounting.schema import check_version, migrate, schema_version
from pacsklearn.accounting.sqlite_database import SQLITE
from pacsklearn.exceptions import LedgerError

_FIRST_WITH_ANSWERS: Final = 3
_BESIDE: Final = (("answers", "responder", "key"), ("beliefs", "session", "event"))


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
    return run(address, partial(_all_rows, address), write=False)


def move(source: str, target: str) -> dict[str, Position]:
    """Write all data sets, and the answers that sessions store beside them, to another database.

    Parameters
    ----------
    source : str
        Address, read at one moment.
    target : str
        Address of an empty SQLite file, or of a server, as the owner of its tables; it has none of
        the data sets.

    Returns
    -------
    dict
        Position of each data set.

    Raises
    ------
    LedgerError
        When a data set is there already; nothing is written then.
    LedgerCorruptedError
        When a row is wrong; nothing is written then. Answers are sealed by the keys of their
        sessions, which check them when they read them.
    """

    def read(connection: Connection) -> dict[str, Position]:
        sound = [
            (founding, list(sound_rows(founding, entries)))
            for founding, entries in _all_rows(source, connection)
        ]
        has_answers = schema_version(connection) >= _FIRST_WITH_ANSWERS

        def write(there: Connection) -> dict[str, Position]:
            if not target.startswith(SQLITE):
                there.exec_driver_sql("SET LOCAL ROLE NONE")
            migrate(there)
            for founding, entries in sound:
                rows = open_rows(there, founding.name)
                if rows.founding(lock=False)[0] is not None:
                    raise LedgerError(
                        f"{without_password(target)} has a ledger for the dataset "
                        f"{founding.name!r} already, which is left as it is; restore to another "
                        "database."
                    )
                rows.insert_founding(founding)
                rows.add(entries)
                for table, owner, key in _BESIDE if has_answers else ():
                    for lines in open_rows(connection, founding.name).beside(table, owner, key):
                        rows.insert(table, lines)
            return {
                founding.name: Position(
                    len(entries), entries[-1].hash if entries else founding.hash
                )
                for founding, entries in sound
            }

        return run(target, write, write=True)

    positions = run(source, read, write=False)
    close(target)  # a server's connection is older than the writers' role
    return positions


def _all_rows(address: str, connection: Connection) -> list[tuple[Founding, list[Entry]]]:
    version = schema_version(connection)
    check_version(version)
    if version == 0:
        raise LedgerError(f"There is no ledger at {without_password(address)}.")
    return [
        (founding, list(open_rows(connection, founding.name).after(0)))
        for founding in foundings(connection)
    ]
