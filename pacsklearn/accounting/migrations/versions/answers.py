"""Stored answers of sessions, and what was believed after each charge."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_KEYS = {"answers": "responder", "beliefs": "session"}
_SQLITE_TRIGGER = (
    "CREATE TRIGGER {name} BEFORE {what} BEGIN SELECT RAISE(ABORT, 'answers are append-only'); END"
)
_POSTGRES = """
CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
REVOKE ALL ON {table} FROM PUBLIC;
GRANT SELECT, INSERT ON {table} TO {role};
"""


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "answers",
        sa.Column("dataset", sa.Text, primary_key=True),
        sa.Column("responder", sa.Text, primary_key=True),
        sa.Column("key", sa.LargeBinary, primary_key=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
        sa.Column("margin", sa.LargeBinary, nullable=False),
        sa.Column("seal", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "beliefs",
        sa.Column("dataset", sa.Text, primary_key=True),
        sa.Column("session", sa.Text, primary_key=True),
        sa.Column("event", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("belief", sa.LargeBinary, nullable=False),
        sa.Column("seal", sa.LargeBinary, nullable=False),
    )
    if op.get_bind().dialect.name == "sqlite":
        for table, owner in _KEYS.items():
            key = "key" if table == "answers" else "event"
            again = (
                f"INSERT ON {table} WHEN EXISTS (SELECT 1 FROM {table} WHERE dataset = NEW.dataset "  # noqa: S608
                f"AND {owner} = NEW.{owner} AND {key} = NEW.{key})"
            )
            for name, what in {
                "update": f"UPDATE ON {table}",
                "delete": f"DELETE ON {table}",
                "replace": again,
            }.items():
                op.execute(_SQLITE_TRIGGER.format(name=f"{table}_no_{name}", what=what))
        return
    from pacsklearn.accounting.schema import WRITER

    raw: Any = op.get_bind().connection.driver_connection  # scripts of several statements
    for table in _KEYS:
        raw.execute(_POSTGRES.format(table=table, role=WRITER))
