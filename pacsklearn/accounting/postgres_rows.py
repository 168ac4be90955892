"""Rows of one data set on a PostgreSQL server."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, final

from psycopg.pq import Escaping
from sqlalchemy import Connection

from pacsklearn.accounting.entry import Entry, Founding
from pacsklearn.accounting.postgres_database import ask
from pacsklearn.accounting.rows import COLUMNS, FEW, FOUNDING_COLUMNS, Rows
from pacsklearn.accounting.schema import VERSION
from pacsklearn.core.ledger import time_text

_UTC: Final = (
    "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"+00:00\"')"
)
_HEAD: Final = f"{_UTC}, (SELECT version_num FROM alembic_version)"
_FOUNDING: Final = f"SELECT {_HEAD}, d.* FROM datasets d WHERE name = %s"
_DATASET: Final = "($1 #>> '{}')"
# Statements of a charge, prepared once for a connection. The plan of the second one is made before
# anybody knows what is asked: each of its parts has an order and a limit that one index serves, so
# that no plan reads a whole data set. Values travel as JSON: a list is one value, and all is ASCII.
_PREPARED: Final = {
    "lock_dataset (json)": f"SELECT FROM datasets WHERE name = {_DATASET} FOR UPDATE",
    "rows_to_charge (json, int8, json)": (
        f"SELECT {_HEAD}, {', '.join(f'd.{name}' for name in FOUNDING_COLUMNS)}, wanted, "
        f"{', '.join(f'e.{name}' for name in COLUMNS)} FROM datasets d LEFT JOIN LATERAL ("
        f"(SELECT FALSE AS wanted, e.* FROM entries e WHERE dataset = {_DATASET} AND sequence > $2 "
        f"ORDER BY sequence LIMIT {FEW}) UNION ALL "
        "SELECT TRUE, e.* FROM json_array_elements_text($3) AS wanted, LATERAL "
        f"(SELECT * FROM entries WHERE dataset = {_DATASET} AND key >= wanted AND key <= wanted "
        f"ORDER BY key LIMIT 1) e) e ON TRUE WHERE name = {_DATASET}"
    ),
    "append_rows (json)": (
        f"INSERT INTO entries ({', '.join(COLUMNS)}) SELECT {', '.join(COLUMNS)} "
        f"FROM json_populate_recordset(NULL::entries, $1) RETURNING {', '.join(COLUMNS)}"
    ),
}
_TYPES: Final[dict[str, Callable[[bytes], Any]]] = {
    "sequence": int,
    **dict.fromkeys(("charge", "ceiling", "per_user", "per_project"), float),
}
_OF_FOUNDING: Final = [_TYPES.get(name, bytes.decode) for name in FOUNDING_COLUMNS]
_OF_ENTRY: Final = [_TYPES.get(name, bytes.decode) for name in COLUMNS]
_AFTER_FOUNDING: Final = 2 + len(FOUNDING_COLUMNS)


@final
class PostgresRows(Rows):
    """Rows on a server; what can travel together does."""

    mark = "%s"

    def __init__(self, connection: Connection, dataset: str) -> None:
        super().__init__(connection, dataset)
        self._info = connection.info

    def founding(self, *, lock: bool) -> tuple[Founding | None, int, str]:
        how = " FOR UPDATE OF d" if lock else ""
        row = self.run(_FOUNDING + how, self.dataset).fetchone()
        if row is None:
            return None, VERSION, time_text()
        return Founding(*row[2:]), int(row[1]), str(row[0])

    def to_charge(
        self, sequence: int, keys: list[str]
    ) -> tuple[tuple[Founding | None, int, str], list[Entry], list[Entry]]:
        self._prepare()
        literal = Escaping(self.driver.pgconn).escape_literal
        dataset, wanted = (literal(json.dumps(each).encode()) for each in (self.dataset, keys))
        # The rows are read by a statement of their own, which sees what was committed until the
        # lock was given.
        rows = self._ask(
            b"%b; EXECUTE lock_dataset (%b); EXECUTE rows_to_charge (%b, %d, %b)"
            % (self._info.pop("begin"), dataset, dataset, sequence, wanted)
        )
        if not rows:
            return (None, VERSION, time_text()), [], []
        after: list[Entry] = []
        with_keys: list[Entry] = []
        for row in rows:
            if (wanted := row[_AFTER_FOUNDING]) is not None:
                entry = Entry(*_read(_OF_ENTRY, row[_AFTER_FOUNDING + 1 :]))
                (with_keys if wanted == b"t" else after).append(entry)
        time, version, *founding = rows[0][:_AFTER_FOUNDING]
        stored = Founding(*_read(_OF_FOUNDING, founding))
        return (stored, int(version), time.decode()), after, with_keys

    def write(self, entries: list[Entry]) -> list[Any]:
        self._prepare()
        rows = (f'{entry.content()[:-1]},"hash":"{entry.hash}"}}' for entry in entries)
        kept = self._ask(b"append_rows", [f"[{','.join(rows)}]".encode()])
        return [tuple(_read(_OF_ENTRY, row)) for row in kept]

    def _prepare(self) -> None:
        if "prepared" not in self._info:
            for name, statement in _PREPARED.items():
                self.driver.execute(f"PREPARE {name} AS {statement}", prepare=False)
            self._info["prepared"] = True

    def _ask(self, statements: bytes, values: list[bytes] | None = None) -> list[list[Any]]:
        result = ask(self.driver, statements, values)
        columns = range(result.nfields)
        return [[result.get_value(row, each) for each in columns] for row in range(result.ntuples)]


def _read(types: list[Callable[[bytes], Any]], row: list[bytes | None]) -> list[Any]:
    return [None if text is None else of(text) for of, text in zip(types, row, strict=True)]
