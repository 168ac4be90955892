"""Ceilings of users and projects, and reservations whose time is over."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add columns that are empty in all rows there are."""
    op.add_column("datasets", sa.Column("per_user", sa.Double))
    op.add_column("datasets", sa.Column("per_project", sa.Double))
    for name in ("user_id", "project_id", "expires"):
        op.add_column("entries", sa.Column(name, sa.Text))
