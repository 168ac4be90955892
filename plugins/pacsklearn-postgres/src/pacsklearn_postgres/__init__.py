"""Ledgers on a PostgreSQL server, shared by machines: ``ledger="postgresql://..."``."""

from pacsklearn_postgres.postgres_log import PostgresLog

__all__ = ["PostgresLog"]
