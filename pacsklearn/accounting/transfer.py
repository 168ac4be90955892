"""All rows of a database, read at one moment and written to another one."""

from __future__ import annotations

from functools import partial
from typing import Final

from sqlalchemy import Connection

from pacsklearn.accounting.chain import verify_chain
from pacsklearn.accounting.database import run
from pacsklearn.accounting.entry import Entry, Founding, Position, without_password
from pacsklearn.accounting.founding import as_owner, foundings, insert
from pacsklearn.accounting.rows import open_rows
from pacsklearn.accounting.schema import check_version, schema_version
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
        datasets = _all_rows(source, connection)
        positions = {each.name: verify_chain(each, entries) for each, entries in datasets}
        has_answers = schema_version(connection) >= _FIRST_WITH_ANSWERS

        def write(there: Connection) -> dict[str, Position]:
            for founding, entries in datasets:
                rows = insert(there, founding, without_password(target))
                rows.add(entries)
                for table, owner, key in _BESIDE if has_answers else ():
                    for lines in open_rows(connection, founding.name).beside(table, owner, key):
                        rows.insert(table, lines)
            return positions

        return as_owner(target, write)

    return run(source, read, write=False)


def _all_rows(address: str, connection: Connection) -> list[tuple[Founding, list[Entry]]]:
    version = schema_version(connection)
    check_version(version)
    if version == 0:
        raise LedgerError(f"There is no ledger at {without_password(address)}.")
    return [
        (founding, list(open_rows(connection, founding.name).after(0)))
        for founding in foundings(connection)
    ]
