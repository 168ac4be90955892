"""Tables of a database of ledgers, and the triggers that keep them append-only."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

from pacsklearn.exceptions import LedgerMismatchError

__all__ = ["DATASETS", "ENTRIES", "create_tables"]

_APPLICATION = 0x50414331  # "PAC1", in the file's header
_VERSION = 1

_METADATA = MetaData()

DATASETS = Table(
    "datasets",
    _METADATA,
    Column("name", Text, primary_key=True),
    Column("ceiling", Float, nullable=False),
    Column("unit", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("nonce", Text, nullable=False),
    Column("hash", Text, nullable=False),
)

ENTRIES = Table(
    "entries",
    _METADATA,
    Column("dataset", Text, primary_key=True),
    Column("sequence", Integer, primary_key=True),
    Column("account", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("charge", Float, nullable=False),
    Column("unit", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("total", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    UniqueConstraint("dataset", "key"),
    Index("entries_by_account", "dataset", "account", "sequence"),
)

_TRIGGER = "CREATE TRIGGER {name} BEFORE {what} BEGIN SELECT RAISE(ABORT, '{why}'); END"

# INSERT OR REPLACE deletes without firing the DELETE triggers, so inserts are watched too.
_SECOND_FOUNDING = "INSERT ON datasets WHEN EXISTS (SELECT 1 FROM datasets WHERE name = NEW.name)"
_NOT_AT_THE_END = (
    "INSERT ON entries "
    "WHEN EXISTS (SELECT 1 FROM entries WHERE dataset = NEW.dataset AND key = NEW.key) "
    "OR NEW.sequence <> (SELECT coalesce(max(sequence), 0) + 1 FROM entries "
    "WHERE dataset = NEW.dataset)"
)
_TRIGGERS = {
    "datasets_no_update": ("UPDATE ON datasets", "a ledger is append-only"),
    "datasets_no_delete": ("DELETE ON datasets", "a ledger is append-only"),
    "datasets_no_replace": (_SECOND_FOUNDING, "a ledger is founded once"),
    "entries_no_update": ("UPDATE ON entries", "a ledger is append-only"),
    "entries_no_delete": ("DELETE ON entries", "a ledger is append-only"),
    "entries_no_replace": (_NOT_AT_THE_END, "a ledger only grows at its end"),
}


def create_tables(connection: Connection) -> None:
    """Lay an empty database out; check one that is not empty.

    Raises
    ------
    LedgerMismatchError
        When the database holds something else.
    """
    application = connection.exec_driver_sql("PRAGMA application_id").scalar()
    version = connection.exec_driver_sql("PRAGMA user_version").scalar()
    if (application, version) == (_APPLICATION, _VERSION):
        return
    if connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar():
        raise LedgerMismatchError(
            "The database holds something else than ledgers of this version; give the path of a "
            "new file."
        )
    _METADATA.create_all(connection)
    for name, (what, why) in _TRIGGERS.items():
        connection.exec_driver_sql(_TRIGGER.format(name=name, what=what, why=why))
    connection.exec_driver_sql(f"PRAGMA application_id = {_APPLICATION}")
    connection.exec_driver_sql(f"PRAGMA user_version = {_VERSION}")
