"""Everything the first service needs."""

from __future__ import annotations

from alembic import op

from pacsklearn.service.tables import LEASES, METADATA

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    METADATA.create_all(op.get_bind())
    op.bulk_insert(LEASES, [{"name": "coordinator", "holder": "", "token": 0, "until": 0.0}])
