"""What libpq answers, and what it does not."""

from __future__ import annotations

import psycopg
import pytest

from pacsklearn.accounting.postgres_database import PostgresDatabase, ask


def test_the_last_of_some_statements(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as raw:
        assert ask(raw, b"SELECT 1; SELECT 2").get_value(0, 0) == b"2"
        raw.execute("PREPARE double (int8) AS SELECT 2 * $1", prepare=False)
        assert ask(raw, b"double", [b"21"]).get_value(0, 0) == b"42"
        with pytest.raises(psycopg.errors.DivisionByZero):
            ask(raw, b"SELECT 1 / 0; SELECT 1")


def test_a_server_that_was_lost(address: str) -> None:
    raw = psycopg.connect(address, autocommit=True)
    with psycopg.connect(address, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (raw.info.backend_pid,))
    for _ in range(2):  # the second time nothing can be sent
        with pytest.raises(psycopg.OperationalError) as caught:
            ask(raw, b"SELECT 1")
        assert PostgresDatabase.is_gone(None, caught.value)  # type: ignore[arg-type]


def test_a_commit_that_the_server_turned_into_a_rollback(address: str) -> None:
    database = PostgresDatabase(address)
    connection = database.begin(write=True, lazily=False)
    driver = connection.connection.driver_connection
    with pytest.raises(psycopg.errors.DivisionByZero):
        ask(driver, b"SELECT 1 / 0")
    with pytest.raises(psycopg.OperationalError, match="rolled the transaction back"):
        database.commit(connection)
    database.close()
