"""Tables of ledgers, and what keeps them append-only."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_SQLITE_TRIGGER = "CREATE TRIGGER {name} BEFORE {what} BEGIN SELECT RAISE(ABORT, '{why}'); END"

# INSERT OR REPLACE deletes without firing the DELETE triggers, so inserts are watched too.
_SECOND_FOUNDING = "INSERT ON datasets WHEN EXISTS (SELECT 1 FROM datasets WHERE name = NEW.name)"
_NOT_AT_THE_END = (
    "INSERT ON entries "
    "WHEN EXISTS (SELECT 1 FROM entries WHERE dataset = NEW.dataset AND key = NEW.key) "
    "OR NEW.sequence <> (SELECT coalesce(max(sequence), 0) + 1 FROM entries "
    "WHERE dataset = NEW.dataset)"
)
_SQLITE_TRIGGERS = {
    "datasets_no_update": ("UPDATE ON datasets", "a ledger is append-only"),
    "datasets_no_delete": ("DELETE ON datasets", "a ledger is append-only"),
    "datasets_no_replace": (_SECOND_FOUNDING, "a ledger is founded once"),
    "entries_no_update": ("UPDATE ON entries", "a ledger is append-only"),
    "entries_no_delete": ("DELETE ON entries", "a ledger is append-only"),
    "entries_no_replace": (_NOT_AT_THE_END, "a ledger only grows at its end"),
}

_POSTGRES = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a ledger is append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE FUNCTION only_at_the_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.sequence <> (
        SELECT coalesce(max(sequence), 0) + 1 FROM {schema}.entries WHERE dataset = NEW.dataset
    ) THEN
        RAISE EXCEPTION 'a ledger only grows at its end'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER entries_no_change BEFORE UPDATE OR DELETE ON entries
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entries_no_truncate BEFORE TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entries_at_the_end BEFORE INSERT ON entries
    FOR EACH ROW EXECUTE FUNCTION only_at_the_end();
CREATE TRIGGER datasets_no_change BEFORE UPDATE OR DELETE ON datasets
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER datasets_no_truncate BEFORE TRUNCATE ON datasets
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""

# A row lock (SELECT FOR UPDATE) needs the right to update a column; the trigger refuses to use it.
_POSTGRES_ROLE = """
REVOKE ALL ON datasets, entries FROM PUBLIC;
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{role}') THEN
        CREATE ROLE {role} NOLOGIN;
    END IF;
    IF NOT pg_has_role(current_user, '{role}', 'MEMBER') THEN
        EXECUTE format('GRANT {role} TO %I', current_user);
    END IF;
END $$;
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT, INSERT ON entries TO {role};
GRANT SELECT, UPDATE (created) ON datasets TO {role};
GRANT SELECT ON alembic_version TO {role};
"""


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "datasets",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("ceiling", sa.Double, nullable=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("created", sa.Text, nullable=False),
        sa.Column("nonce", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
    )
    op.create_table(
        "entries",
        sa.Column("dataset", sa.Text, primary_key=True),
        sa.Column("sequence", sa.BigInteger, primary_key=True),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("charge", sa.Double, nullable=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("total", sa.Text, nullable=False),
        sa.Column("created", sa.Text, nullable=False),
        sa.Column("previous", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.UniqueConstraint("dataset", "key"),
    )
    op.create_index("entries_by_account", "entries", ["dataset", "account", "sequence"])
    if op.get_bind().dialect.name == "sqlite":
        for name, (what, why) in _SQLITE_TRIGGERS.items():
            op.execute(_SQLITE_TRIGGER.format(name=name, what=what, why=why))
    else:
        from pacsklearn.accounting.schema import SCHEMA, WRITER

        raw: Any = op.get_bind().connection.driver_connection  # scripts of several statements
        for script in (_POSTGRES, _POSTGRES_ROLE):
            raw.execute(script.format(schema=SCHEMA, role=WRITER))
