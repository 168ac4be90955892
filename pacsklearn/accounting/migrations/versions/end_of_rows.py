"""A server looks for the end of a data set by its index, whatever it knows about the table."""

from __future__ import annotations

from typing import Any

from alembic import op

revision = "0004"
down_revision = "0003"

# Where a server has no statistics yet, max(sequence) may read the whole data set, for every row
# that is added; an order and a limit leave one plan.
_POSTGRES = """
CREATE OR REPLACE FUNCTION only_at_the_end() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    last bigint := 0;
BEGIN
    SELECT sequence INTO last FROM {schema}.entries WHERE dataset = NEW.dataset
        ORDER BY sequence DESC LIMIT 1;
    IF NEW.sequence <> coalesce(last, 0) + 1 THEN
        RAISE EXCEPTION 'a ledger only grows at its end'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
"""


def upgrade() -> None:
    """Replace the trigger's function; a file's trigger uses the index already."""
    if op.get_bind().dialect.name == "sqlite":
        return
    from pacsklearn.accounting.schema import SCHEMA

    raw: Any = op.get_bind().connection.driver_connection
    raw.execute(_POSTGRES.format(schema=SCHEMA))
