"""Rows of one data set on a PostgreSQL server."""

from __future__ import annotations

import json
from typing import Any, Final, final

from psycopg.pq import Escaping
from sqlalchemy import Connection

from pacsklearn.accounting.entry import Entry, Founding
from pacsklearn.accounting.rows import COLUMNS, FEW, Rows
from pacsklearn.accounting.schema import VERSION
from pacsklearn.core.booked_ledger import time_text

__all__ = ["PostgresRows"]

_UTC: Final = (
    "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"+00:00\"')"
)
_FOUNDING: Final = (
    f"SELECT {_UTC}, (SELECT version_num FROM alembic_version), d.* FROM datasets d WHERE name = %s"
)
_LOCKED: Final = f"{_FOUNDING} FOR UPDATE OF d"
_DATASET: Final = "($1 #>> '{}')"
# Statements of a charge, prepared once for a connection. The plan of the second one is made before
# anybody knows what is asked: each of its parts has an order and a limit that one index serves, so
# that no plan reads a whole data set. Values travel as JSON: a list is one value, and all is ASCII.
_PREPARED: Final = {
    "begin_charge (json)": _LOCKED.replace("%s", _DATASET),
    "rows_to_charge (json, int8, json)": (
        f"(SELECT FALSE, e.* FROM entries e WHERE dataset = {_DATASET} AND sequence > $2 "
        f"ORDER BY sequence LIMIT {FEW}) UNION ALL "
        "SELECT TRUE, e.* FROM json_array_elements_text($3) AS wanted, LATERAL "
        f"(SELECT * FROM entries WHERE dataset = {_DATASET} AND key >= wanted AND key <= wanted "
        "ORDER BY key LIMIT 1) e"
    ),
    "append_rows (json)": (
        f"INSERT INTO entries ({', '.join(COLUMNS)}) SELECT {', '.join(COLUMNS)} "
        "FROM json_populate_recordset(NULL::entries, $1) RETURNING *"
    ),
}


@final
class PostgresRows(Rows):
    """Rows on a server; what can travel together does."""

    mark = "%s"

    def __init__(self, connection: Connection, dataset: str) -> None:
        super().__init__(connection, dataset)
        self._info = connection.info

    def founding(self, *, lock: bool) -> tuple[Founding | None, int, str]:
        return _stored(self.run(_LOCKED if lock else _FOUNDING, self.dataset).fetchone())

    def to_charge(
        self, sequence: int, keys: list[str]
    ) -> tuple[tuple[Founding | None, int, str], list[Entry], list[Entry]]:
        self._prepare()
        dataset, wanted = self._literal(self.dataset), self._literal(keys)
        # The rows are read by a statement of their own, which sees what was committed until the
        # lock was given.
        cursor = self._send(
            f"{self._info.pop('begin')}; EXECUTE begin_charge ({dataset}); "
            f"EXECUTE rows_to_charge ({dataset}, {sequence:d}, {wanted})"
        )
        cursor.nextset()
        founding = _stored(cursor.fetchone())
        cursor.nextset()
        after: list[Entry] = []
        with_keys: list[Entry] = []
        for row in cursor.fetchall():
            (with_keys if row[0] else after).append(Entry(*row[1:]))
        return founding, after, with_keys

    def write(self, entries: list[Entry]) -> list[Any]:
        self._prepare()
        rows = self._literal([vars(entry) for entry in entries])
        kept: list[Any] = self._send(f"EXECUTE append_rows ({rows})").fetchall()
        return kept

    def _prepare(self) -> None:
        if "cursor" not in self._info:
            for name, statement in _PREPARED.items():
                self.driver.execute(f"PREPARE {name} AS {statement}", prepare=False)
            self._info["cursor"] = self.driver.cursor()

    def _send(self, statements: str) -> Any:
        # One message there and one back; values are literals, as EXECUTE has no parameters.
        return self._info["cursor"].execute(statements, prepare=False)

    def _literal(self, value: object) -> str:
        text = json.dumps(value).encode()
        return Escaping(self.driver.pgconn).escape_literal(text).decode()


def _stored(row: Any) -> tuple[Founding | None, int, str]:
    if row is None:
        return None, VERSION, time_text()
    return Founding(*row[2:]), int(row[1]), str(row[0])
