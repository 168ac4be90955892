"""A server keeps the contract of a ledger scheme."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pacsklearn_postgres import PostgresLog

from pacsklearn.exceptions import LedgerCorruptedError
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.testing import check_ledger_scheme
from pacsklearn.testing.fresh_process import close_ledgers
from pacsklearn.upkeep.verification import verify_ledger
from tests.kernel.ledger.postgres_server import PostgresServer

MakeEvent = Callable[..., Event]

# Functions of the extension's names and arguments, for servers that are built without it.
STAND_IN = """
SET allow_system_table_mods = on;
INSERT INTO pg_extension VALUES (90001, 'amcheck', 10, 'public'::regnamespace, false, '1.3');
CREATE TABLE public.damage (name text);
GRANT SELECT ON public.damage TO PUBLIC;
CREATE FUNCTION public.bt_index_check(index regclass, heapallindexed boolean) RETURNS void
LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT 1 FROM public.damage WHERE index = ('pacsklearn.' || name)::regclass) THEN
        RAISE EXCEPTION 'item order invariant violated' USING ERRCODE = 'index_corrupted';
    END IF;
END $$;
CREATE FUNCTION public.verify_heapam(relation regclass, check_toast boolean)
RETURNS TABLE (blkno bigint, msg text) LANGUAGE sql AS $$
    SELECT 0, 'tuple is torn' FROM public.damage WHERE relation = ('pacsklearn.' || name)::regclass
$$;
"""


@pytest.mark.soak
def test_a_server(server: PostgresServer) -> None:
    check_ledger_scheme(PostgresLog, server.database)


def sql(address: str, statement: str) -> list[Any]:
    with psycopg.connect(address, autocommit=True) as raw:
        cursor = raw.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def test_verify_has_the_server_check_every_table_and_index(
    address: str, make_event: MakeEvent
) -> None:
    ledger = SharedLedger.found(address, 1.0)
    ledger.charge(make_event(0.25))
    sql(address, STAND_IN)
    verify_ledger(ledger)
    for name in ("log", "answers", "log_pkey", "log_keys", "answers_pkey", "answers_by_row"):
        sql(address, f"INSERT INTO public.damage VALUES ('{name}')")  # noqa: S608 - a constant
        with pytest.raises(LedgerCorruptedError):
            verify_ledger(ledger)
        sql(address, "DELETE FROM public.damage")
    verify_ledger(ledger)


@pytest.mark.parametrize(
    ("name", "place", "content", "words"),
    [
        # The first page after the meta page, and a pointer to a row that ends beyond its page.
        ("log_keys", 8192 + 8000, b"\xff" * 64, "index tuple"),
        ("log", 24 + 4 * 5, (8160 | 1 << 15 | 100 << 17).to_bytes(4, "little"), "line pointer"),
    ],
)
def test_damaged_pages_are_found_by_amcheck(
    server: PostgresServer, address: str, make_event: MakeEvent, name: str, place: int,
    content: bytes, words: str,
) -> None:  # fmt: skip
    try:
        sql(address, "CREATE EXTENSION amcheck")
    except psycopg.errors.FeatureNotSupported:
        pytest.skip("this server is built without the extension amcheck")
    ledger = SharedLedger.found(address, 1.0)
    for _ in range(20):
        ledger.charge(make_event(2.0**-10))
    verify_ledger(ledger)
    sql(address, "CHECKPOINT")
    question = f"SELECT pg_relation_filepath('pacsklearn.{name}'), "
    ((file, folder),) = sql(address, f"{question} current_setting('data_directory')")
    close_ledgers()
    server.kill()
    with Path(folder, file).open("r+b") as pages:
        pages.seek(place)
        pages.write(content)
    server.start()
    with pytest.raises(LedgerCorruptedError, match=words):
        verify_ledger(ledger)


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE pacsklearn.log DISABLE TRIGGER log_no_change",
        "DROP TRIGGER log_no_truncate ON pacsklearn.log",
        # The same name and the same function, and rows can be deleted.
        (
            "CREATE OR REPLACE TRIGGER log_no_change BEFORE UPDATE ON pacsklearn.log FOR EACH ROW "
            "EXECUTE FUNCTION pacsklearn.refuse_change()"
        ),
        (
            "CREATE OR REPLACE FUNCTION pacsklearn.refuse_change() RETURNS trigger "
            "LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'"
        ),
    ],
)
def test_triggers_are_compared_with_the_scripts(address: str, change: str) -> None:
    ledger = SharedLedger.found(address, 1.0)
    verify_ledger(ledger)
    sql(address, change)
    with pytest.raises(LedgerCorruptedError, match="trigger"):
        verify_ledger(ledger)


def test_a_reading_that_ends_early_asks_nothing(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may end where garbage is collected: in the middle of another question, for ever."""
    SharedLedger.found(address, 1.0)
    log = PostgresLog(PostgresLog.own_address(address))
    with log.snapshot():
        rows = log.table("default")
        next(rows)
        with monkeypatch.context() as patch:
            patch.setattr(psycopg.Connection, "wait", None)
            rows.close()
    log.close()


def test_a_connection_is_kept_alive_unless_the_address_says_otherwise(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, connect = [], psycopg.connect

    def recorded(*words: Any, **options: Any) -> Any:
        asked.append(options)
        return connect(*words, **options)

    monkeypatch.setattr(psycopg, "connect", recorded)
    SharedLedger.found(address, 1.0)
    SharedLedger.found(f"{address}&keepalives_idle=7", 1.0, dataset="other")
    assert {str(each["keepalives_idle"]) for each in asked} == {"30", "7"}
    close_ledgers()
