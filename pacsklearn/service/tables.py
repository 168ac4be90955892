"""Tables of the service, beside those of the ledger; what is private in them is sealed."""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa

METADATA = sa.MetaData()


def _text(name: str, **options: Any) -> sa.Column[str]:
    return sa.Column(name, sa.Text, **options)


LEASES = sa.Table(
    "service_leases",
    METADATA,
    _text("name", primary_key=True),
    _text("holder", nullable=False),
    sa.Column("token", sa.BigInteger, nullable=False),
    sa.Column("until", sa.Double, nullable=False),
)
DATASETS = sa.Table(
    "service_datasets",
    METADATA,
    _text("name", primary_key=True),
    _text("facts", nullable=False),
    sa.Column("rows", sa.LargeBinary, nullable=False),
    _text("created", nullable=False),
)
MODELS = sa.Table(
    "service_models",
    METADATA,
    _text("name", primary_key=True),
    _text("dataset", nullable=False),
    _text("status", nullable=False),
    _text("facts", nullable=False),
    sa.Column("state", sa.LargeBinary),
    _text("created", nullable=False),
)
# One row a group of requests: what is about to be charged, then what was answered.
BATCHES = sa.Table(
    "service_batches",
    METADATA,
    _text("model", primary_key=True),
    sa.Column("sequence", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("intent", sa.LargeBinary),
    sa.Column("outcome", sa.LargeBinary),
)
REQUESTS = sa.Table(
    "service_requests",
    METADATA,
    _text("model", primary_key=True),
    _text("user", primary_key=True),
    _text("key", primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("reply", sa.LargeBinary, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
)
USERS = sa.Table(
    "service_users",
    METADATA,
    _text("kind", primary_key=True),
    _text("name", primary_key=True),
    _text("facts", nullable=False),
)
ACCOUNTS = sa.Table(
    "service_accounts",
    METADATA,
    _text("dataset", primary_key=True),
    _text("kind", primary_key=True),
    _text("name", primary_key=True),
    sa.Column("ceiling", sa.Double, nullable=False),
    _text("spent", nullable=False),
)
KEYS = sa.Table(
    "service_keys",
    METADATA,
    _text("id", primary_key=True),
    _text("user", nullable=False),
    _text("project"),
    _text("scopes", nullable=False),
    _text("hash", nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("expires", sa.Double, nullable=False),
    sa.Column("revoked", sa.Double),
)
RESERVATIONS = sa.Table(
    "service_reservations",
    METADATA,
    _text("id", primary_key=True),
    _text("dataset", nullable=False),
    _text("user", nullable=False),
    sa.Column("amount", sa.Double, nullable=False),
    _text("spent", nullable=False),
    _text("note", nullable=False),
    sa.Column("expires", sa.Double, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
)
JOBS = sa.Table(
    "service_jobs",
    METADATA,
    _text("id", primary_key=True),
    _text("kind", nullable=False),
    _text("owner", nullable=False),
    _text("status", nullable=False),
    sa.Column("done", sa.BigInteger, nullable=False),
    sa.Column("total", sa.BigInteger, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
)
UNFINISHED: Final = ("queued", "running")
"""Statuses of a job that somebody will go on with."""
AUDIT = sa.Table(
    "service_audit",
    METADATA,
    sa.Column("sequence", sa.BigInteger, primary_key=True, autoincrement=False),
    _text("time", nullable=False),
    _text("actor", nullable=False),
    _text("action", nullable=False),
    _text("object", nullable=False),
    _text("outcome", nullable=False),
    _text("hash", nullable=False),
)
