"""Which version of the schema a database has, and how it gets to this one."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection

from pacsklearn.exceptions import LedgerMismatchError

APPLICATION: Final = 0x50414331
"""``"PAC1"``, in the header of an SQLite file."""
VERSION: Final = 4
"""Of the schema; the revisions in ``migrations/versions`` are numbered so."""
SCHEMA: Final = "pacsklearn"
"""Of a PostgreSQL database: where the tables are."""
WRITER: Final = "pacsklearn_ledger_writer"
"""Role of a PostgreSQL server: may append to ledgers, and nothing else."""

_MIGRATIONS: Final = Path(__file__).with_name("migrations")


def schema_version(connection: Connection) -> int:
    """Version of the schema in a database, 0 for none.

    Raises
    ------
    LedgerMismatchError
        When it holds something else.
    """
    if connection.dialect.name == "sqlite":
        version: int = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        if version and connection.exec_driver_sql("PRAGMA application_id").scalar() == APPLICATION:
            return version
        if connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar():
            raise LedgerMismatchError(
                "The database holds something else than ledgers; give the path of another file."
            )
        return 0
    known = connection.exec_driver_sql(f"SELECT to_regclass('{SCHEMA}.alembic_version')").scalar()
    if known is None:
        return 0
    number = connection.exec_driver_sql(
        f"SELECT version_num FROM {SCHEMA}.alembic_version"  # noqa: S608 - a constant
    ).scalar_one_or_none()
    return 0 if number is None else int(number)


def check_version(version: int) -> None:
    """Refuse a database that a newer version wrote.

    Raises
    ------
    LedgerMismatchError
    """
    if version > VERSION:
        raise LedgerMismatchError(
            f"The database has version {version} of the schema, and this pacsklearn knows up to "
            f"{VERSION}: a newer one has changed it. Upgrade pacsklearn, then start again."
        )


def bring_up(connection: Connection, version: int) -> None:
    """Bring a database that is about to be written to this version; a server's owner does it.

    Raises
    ------
    LedgerMismatchError
        When it is newer, or an older one of a server.
    """
    check_version(version)
    if version == VERSION:
        return
    if connection.dialect.name != "sqlite":
        raise LedgerMismatchError(
            "The database has an earlier version of the schema; let its owner run "
            "`pacsklearn ledger migrate` on it."
        )
    migrate(connection)


def migrate(connection: Connection) -> None:
    """Bring a database to this version, inside the transaction under way, as its owner.

    Raises
    ------
    LedgerMismatchError
        When it holds something else, or is newer.
    """
    from alembic import command

    sqlite = connection.dialect.name == "sqlite"
    if not sqlite:
        connection.exec_driver_sql("SET LOCAL ROLE NONE")  # the writers' role may not found
    before = schema_version(connection)
    check_version(before)
    if before == VERSION:
        return
    if not sqlite:
        connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    config = alembic_config(connection, _MIGRATIONS)
    if sqlite and before == 1:
        command.stamp(config, "0001")  # the first version kept its number in the header only
    command.upgrade(config, "head")
    if sqlite:
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION}")
        connection.exec_driver_sql(f"PRAGMA user_version = {VERSION}")


def alembic_config(connection: Connection, migrations: Path) -> Any:
    """Migrations of a folder, for a connection inside a transaction."""
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    return config
