"""Handles over the years: other versions of the tables, and files that may only be read."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import stat
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pacsklearn.exceptions import LedgerError, LedgerMismatchError
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.ledger.log import VERSION
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.kernel.ledger.sqlite_log import SQLiteLog
from pacsklearn.testing.fresh_process import close_ledgers
from pacsklearn.upkeep.backup import backup
from pacsklearn.upkeep.verification import verify_ledger

MakeEvent = Callable[..., Event]


def test_a_database_of_an_earlier_draft_is_named(path: Path, uri: str) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE entries (dataset TEXT)")
        raw.execute(f"PRAGMA application_id = {0x50414331}")
        raw.execute("PRAGMA user_version = 4")
    for call in (SharedLedger, lambda uri: SharedLedger.found(uri, 1.0)):
        with pytest.raises(LedgerMismatchError, match="ledgers"):
            call(uri)


def test_an_open_handle_stops_at_a_newer_schema(
    ledger: SharedLedger, path: Path, make_event: MakeEvent
) -> None:
    ledger.charge(make_event(0.25))
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(f"PRAGMA user_version = {VERSION + 1}")
    for call in (
        lambda: ledger.charge(make_event(0.25)),
        lambda: ledger.spent,
        lambda: verify_ledger(ledger),
    ):
        with pytest.raises(LedgerMismatchError, match="newer"):
            call()
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT count(*) FROM log").fetchone() == (2,)


def as_nobody(work: Callable[[], None]) -> int:
    """Run in a child process that owns no file."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            work()
            status = 0
        except Exception:  # noqa: BLE001 - the child's last words
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_ledger_that_may_only_be_read_is_verified(
    make_event: MakeEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(tempfile.mkdtemp())  # pytest's own folders are closed to others
    path = folder / "archive.db"
    ledger = SharedLedger.found(f"sqlite:///{path}", 1.0)
    ledger.charge(make_event(0.25))
    position = ledger.position
    close_ledgers()  # moves the log into the file
    raw = os.open(path, os.O_RDWR)
    path.chmod(0o444)
    folder.chmod(0o555)

    def read() -> None:
        found = SharedLedger(ledger.uri)
        assert verify_ledger(found) == position
        assert found.spent == 0.25
        with pytest.raises(LedgerError, match="readonly"):
            found.charge(make_event(0.25))
        check = SQLiteLog.check
        with monkeypatch.context() as patch:  # its owner writes it meanwhile
            patch.setattr(SQLiteLog, "check", lambda log: (check(log), os.pwrite(raw, b"S", 0)))
            with pytest.raises(LedgerError, match="was written while it was read"):
                verify_ledger(found)

    try:
        assert as_nobody(read) == 0
    finally:
        os.close(raw)
        folder.chmod(0o755)
        shutil.rmtree(folder)


@pytest.fixture
def full_disk() -> Iterator[Callable[[], None]]:
    """From the call on, no file grows past 8 kB."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2**13, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_nothing_half_done(
    path: Path, make_event: MakeEvent, tmp_path: Path, full_disk: Callable[[], None]
) -> None:
    ledger = SharedLedger.found(f"sqlite:///{path}", 1.0)
    ledger.charge(make_event(0.25))
    close_ledgers()
    full_disk()
    with pytest.raises(LedgerError, match=r"new\.db"):
        SharedLedger.found(f"sqlite:///{tmp_path}/new.db", 1.0)
    with pytest.raises(LedgerError, match="cannot"):
        backup(path, tmp_path / "copy.db")
    own = {path.name + end for end in ("", "-wal", "-shm")}
    assert {each.name for each in tmp_path.iterdir()} <= own


def test_nothing_is_charged_that_half_a_line_states(
    uri: str, make_event: MakeEvent, tmp_path: Path, full_disk: Callable[[], None]
) -> None:
    mark = tmp_path / "mark"
    ledger = SharedLedger.found(uri, 1.0, high_water=str(mark))
    mark.write_bytes(mark.read_bytes().ljust(2**13 - 99, b"\n"))
    before = mark.read_bytes()
    full_disk()
    with pytest.raises(LedgerError, match=r"written \(No space left .* nothing was charged"):
        ledger.charge(make_event(0.25))
    assert (ledger.spent, mark.read_bytes()) == (0.0, before)


def test_a_ledgers_file_is_its_owners(path: Path, tmp_path: Path) -> None:
    SharedLedger.found(f"sqlite:///{path}", 1.0)
    backup(path, tmp_path / "copy.db")
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path, tmp_path / "copy.db")] == [
        0o600,
        0o600,
    ]


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="folder"):
        SharedLedger(f"sqlite:///{tmp_path}")
    with pytest.raises(LedgerError, match="folder"):
        SharedLedger.found(f"sqlite:///{tmp_path}", 1.0)
