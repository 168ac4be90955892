"""What broke ledgers before: damage, second names, lost ends of transactions, older copies."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from pacsklearn import Nats
from pacsklearn.cli.app import app
from pacsklearn.exceptions import (
    BudgetExhaustedError,
    LedgerCorruptedError,
    LedgerError,
    LedgerMismatchError,
    LedgerUnknownError,
)
from pacsklearn.kernel.ledger import fold, writer
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.testing.fresh_process import close_ledgers
from pacsklearn.universe.open_ledger import open_ledger
from pacsklearn.upkeep.backup import backup, restore
from pacsklearn.upkeep.repair import repair
from pacsklearn.upkeep.verification import verify_ledger

MakeEvent = Callable[..., Event]
CHARGES = 5
SIDES = ("-wal", "-shm")


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    (tmp_path / "key").mkdir()
    return tmp_path / "key" / "clinic.end"


@pytest.fixture
def marked(uri: str, mark: Path) -> SharedLedger:
    """Ledger with a high-water file."""
    return SharedLedger.found(uri, 1.0, high_water=str(mark))


def verify_exit(path: Path) -> int:
    close_ledgers()
    code: int = CliRunner().invoke(app, ["ledger", "verify", str(path)]).exit_code
    return code


class TestIdentity:
    def test_a_hard_link_is_no_second_budget(
        self, ledger: SharedLedger, path: Path, make_event: MakeEvent
    ) -> None:
        ledger.charge(make_event(1.0))
        other = path.with_name("other.db")
        os.link(path, other)
        for name in (path, other):
            close_ledgers()
            with pytest.raises(LedgerError, match="names"):
                SharedLedger(f"sqlite:///{name}")
        with pytest.raises(LedgerError, match="names"):
            ledger.charge(make_event(0.5))
        other.unlink()
        assert ledger.spent == 1.0

    @pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what is mounted")
    def test_a_file_that_is_mounted_alone_is_no_second_budget(
        self, ledger: SharedLedger, path: Path, make_event: MakeEvent
    ) -> None:
        ledger.charge(make_event(1.0))
        other = path.with_name("another name.db")
        other.touch()
        close_ledgers()
        if subprocess.call(["mount", "--bind", path, other], stderr=subprocess.DEVNULL):  # noqa: S603, S607
            pytest.skip("nothing can be mounted here")
        try:
            with pytest.raises(LedgerError, match="mount of the file"):
                SharedLedger(f"sqlite:///{other}")
        finally:
            close_ledgers()
            subprocess.run(["umount", other], check=True)  # noqa: S603, S607
        assert ledger.spent == 1.0

    @pytest.mark.parametrize("side", SIDES)
    def test_nothing_is_put_beside_the_log_of_a_lost_file(
        self, ledger: SharedLedger, path: Path, uri: str, tmp_path: Path, make_event: MakeEvent,
        side: str,
    ) -> None:  # fmt: skip
        ledger.charge(make_event(0.25))
        backup(path, tmp_path / "copy.db")
        Path(f"{path}{side}").write_bytes(b"what a killed process left")
        path.unlink()
        for call in (
            lambda: SharedLedger.found(uri, 1.0),
            lambda: restore(tmp_path / "copy.db", path),
            lambda: backup(tmp_path / "copy.db", path),
        ):
            with pytest.raises(LedgerError, match="is not there any more"):
                call()
        assert not path.exists()

    def test_a_reader_sees_the_truth_or_an_error(self, make_event: MakeEvent) -> None:
        """Without the right to write it was shown what stood in the file at first, for ever."""
        folder = Path(tempfile.mkdtemp())  # pytest's own folders are closed to others
        path = folder / "shared.db"
        ledger = SharedLedger.found(f"sqlite:///{path}", 1.0)
        ledger.charge(make_event(0.25))
        close_ledgers()
        path.chmod(0o444)
        folder.chmod(0o555)
        go, told = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                if os.geteuid() == 0:
                    os.setgid(65534)
                    os.setuid(65534)
                found = SharedLedger(ledger.uri)
                assert found.spent == 0.25
                os.write(told[1], b"x")
                os.read(go[0], 1)
                try:
                    status = 0 if found.spent == 0.5 else 2
                except LedgerError:
                    status = 0
            except BaseException:  # noqa: BLE001 - the child's last words
                traceback.print_exc()
            finally:
                os._exit(status)
        os.read(told[0], 1)
        path.chmod(0o644)
        folder.chmod(0o755)
        ledger.charge(make_event(0.25))
        os.write(go[1], b"x")
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        shutil.rmtree(folder)
        for each in (*go, *told):
            os.close(each)
        assert status == 0


class Commits:
    """How the next commits of this process go."""

    def __init__(self) -> None:
        self.plan: list[str] = []
        self.gone = False


def shake_files(commits: Commits, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect

    class Shaky(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> Any:
            if statement == "COMMIT" and commits.plan:
                if commits.plan.pop(0) != "refused":
                    super().execute(statement)
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(statement, *values)

    def opened(*names: Any, **options: Any) -> Any:
        if commits.gone:
            raise sqlite3.OperationalError("unable to open database file")
        return connect(*names, factory=Shaky, **options)

    monkeypatch.setattr(sqlite3, "connect", opened)


def shake_servers(commits: Commits, monkeypatch: pytest.MonkeyPatch) -> None:
    execute, connect = psycopg.Connection.execute, psycopg.connect

    def shaken(self: Any, statement: Any, *values: Any, **options: Any) -> Any:
        if statement == "COMMIT" and commits.plan:
            if commits.plan.pop(0) != "refused":
                execute(self, statement)
            self.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return execute(self, statement, *values, **options)

    def opened(*names: Any, **options: Any) -> Any:
        if commits.gone:
            raise psycopg.OperationalError("connection refused")
        return connect(*names, **options)

    monkeypatch.setattr(psycopg.Connection, "execute", shaken)
    monkeypatch.setattr(psycopg, "connect", opened)


@pytest.fixture(params=["sqlite", "postgresql"])
def shaky(
    request: pytest.FixtureRequest, uri: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Any, Commits]]:
    """Ledger whose commits report errors as planned, though they may have taken effect."""
    commits = Commits()
    if request.param == "sqlite":
        shake_files(commits, monkeypatch)
        address = uri
    else:
        shake_servers(commits, monkeypatch)
        address = request.getfixturevalue("address")
    yield SharedLedger.found(address, 1.0), commits
    commits.gone = False
    close_ledgers()


class TestThreeOutcomes:
    def test_charged_though_the_commit_reported_an_error(
        self, shaky: tuple[Any, Commits], make_event: MakeEvent
    ) -> None:
        ledger, commits = shaky
        for number in range(3):
            commits.plan = ["charged"]
            assert ledger.charge(make_event(0.125, key=f"k{number}"))
            assert not ledger.charge(make_event(0.125, key=f"k{number}"))
        assert ledger.spent == 0.375
        assert verify_ledger(ledger).sequence == 3

    def test_refused_is_charged_by_nobody(
        self, shaky: tuple[Any, Commits], make_event: MakeEvent
    ) -> None:
        ledger, commits = shaky
        commits.plan = ["refused"]
        event = make_event(0.125, key="k")
        if ledger.uri.startswith("sqlite"):
            with pytest.raises(LedgerError, match="disk"):
                ledger.charge(event)
            assert ledger.find("k") is None
        assert ledger.charge(event)
        assert ledger.spent == 0.125
        assert verify_ledger(ledger).sequence == 1

    @pytest.mark.parametrize("how", ["charged", "refused"])
    def test_unknown_is_found_out_before_anything_else(
        self, shaky: tuple[Any, Commits], make_event: MakeEvent, monkeypatch: Any, how: str
    ) -> None:
        from pacsklearn.kernel.ledger import log, store

        ledger, commits = shaky
        monkeypatch.setattr(log, "PATIENCE", 0.2)
        monkeypatch.setattr(store, "_DOUBT", 0.2)
        ledger.charge(make_event(0.125))
        commits.plan, commits.gone = [how], True
        event = make_event(0.125, key="k")
        with pytest.raises(LedgerUnknownError, match="known"):
            ledger.charge(event)
        commits.gone = False
        assert ledger.charge(event), "nobody was told of it: whoever asks again may release"
        assert not ledger.charge(event)
        assert ledger.spent == 0.25
        assert verify_ledger(ledger).sequence == 2

    def test_a_session_goes_on(self, shaky: tuple[Any, Commits], monkeypatch: Any) -> None:
        from pacsklearn import PrivacySession
        from pacsklearn.kernel.ledger import log, store

        ledger, commits = shaky
        monkeypatch.setattr(log, "PATIENCE", 0.2)
        monkeypatch.setattr(store, "_DOUBT", 0.2)
        with PrivacySession.over(range(16), budget=Nats(1.0), ledger=ledger) as session:
            commits.plan = ["charged"]
            session.release_function(int.bit_count, noise="one_sided", budget=0.25)
            commits.plan, commits.gone = ["charged"], True
            with pytest.raises(LedgerUnknownError):
                session.release_function(int.bit_count, noise="one_sided", budget=0.25)
            commits.gone = False
            session.release_function(int.bit_count, noise="one_sided", budget=0.25)
            assert session.ledger.spent == ledger.spent
            assert len(ledger.events) == 3


class TestHighWater:
    @pytest.mark.parametrize("whole", [True, False])
    def test_an_older_copy_is_refused(
        self, marked: SharedLedger, path: Path, tmp_path: Path, make_event: MakeEvent, whole: bool
    ) -> None:
        marked.charge(make_event(0.25))
        backup(path, tmp_path / "older.db")
        marked.charge(make_event(0.25))
        if not whole:
            marked.charge(make_event(0.25))
        close_ledgers()
        path.unlink()
        if whole:
            shutil.copy(tmp_path / "older.db", path)
        else:
            with pytest.raises(LedgerCorruptedError, match="older"):
                restore(tmp_path / "older.db", path)
            assert not path.exists()
            restore(tmp_path / "older.db", path, new_start=True)
            assert SharedLedger(marked.uri).spent == 0.25
            return
        # The last row stands in the file, and one row is not an older copy but a lost commit.
        assert verify_ledger(SharedLedger(marked.uri)).sequence == 2
        assert SharedLedger(marked.uri).spent == 0.5
        marked.charge(make_event(0.125))
        close_ledgers()
        shutil.copy(tmp_path / "older.db", path)
        for call in (
            lambda: SharedLedger(marked.uri).spent,
            lambda: marked.charge(make_event(0.125)),
            lambda: verify_ledger(marked),
        ):
            with pytest.raises(LedgerCorruptedError, match="older"):
                call()
        assert verify_exit(path) == 1

    def test_a_file_written_anew_states_what_others_charge_meanwhile(
        self, marked: SharedLedger, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It stated the end that was read before, and an older copy passed for the ledger."""
        from pacsklearn.upkeep import backup as copies

        charge = (
            "from pacsklearn.kernel.ledger.event import Bookkeeping\n"
            "from pacsklearn.kernel.ledger.shared_ledger import SharedLedger\n"
            f"SharedLedger({marked.uri!r}).charge(Bookkeeping('test', 0.25, 'nats'))"
        )
        verified, left = copies._verified, [charge]

        def slowly(log: Any) -> Any:
            folds = verified(log)
            while left:
                subprocess.run([sys.executable, "-c", left.pop()], check=True)  # noqa: S603 - ours
            return folds

        backup(path, tmp_path / "older.db")
        monkeypatch.setattr(copies, "_verified", slowly)
        assert copies.mark(marked.uri, "default").sequence == 1
        close_ledgers()
        shutil.copy(tmp_path / "older.db", path)
        with pytest.raises(LedgerCorruptedError, match="older"):
            _ = SharedLedger(marked.uri).spent

    def test_what_stood_in_the_file_alone_is_charged(
        self, marked: SharedLedger, make_event: MakeEvent
    ) -> None:
        """Killed between the file and the commit: a crash can lose an answer, never a charge."""
        from pacsklearn.kernel.ledger import high_water

        marked.charge(make_event(0.25))
        write = high_water.HighWater.write
        child = os.fork()
        if child == 0:

            def dying(*arguments: Any) -> None:
                write(*arguments)
                os.kill(os.getpid(), signal.SIGKILL)

            high_water.HighWater.write = dying  # type: ignore[method-assign]
            marked.charge(make_event(0.5, key="lost"))
        os.waitpid(child, 0)
        close_ledgers()
        assert marked.spent == 0.75
        assert not marked.charge(make_event(0.5, key="lost"))
        verify_ledger(marked)

    def test_what_its_writer_takes_back_meanwhile_is_not_charged(
        self,
        marked: SharedLedger,
        path: Path,
        tmp_path: Path,
        make_event: MakeEvent,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """A writer whose commit failed says so to its caller, who was told of no charge."""
        from pacsklearn.kernel.ledger.high_water import HighWater

        marked.charge(make_event(0.25))
        backup(path, tmp_path / "older.db")
        marked.charge(make_event(0.5))
        close_ledgers()
        shutil.copy(tmp_path / "older.db", path)
        read = HighWater.read

        def taken_back(file: HighWater) -> Any:
            before, rows = stated = read(file)
            if rows:
                file.write(before, ())
            return stated

        monkeypatch.setattr(HighWater, "read", taken_back)
        assert marked.spent == 0.25

    def test_a_refusal_that_the_file_cannot_state_is_not_known(
        self, marked: SharedLedger, make_event: MakeEvent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It was called refused, and charged by whoever opened the ledger next."""
        from pacsklearn.kernel.ledger import high_water
        from pacsklearn.kernel.ledger.sqlite_log import SQLiteLog

        write, append = high_water.HighWater.write, SQLiteLog.append

        def full(*arguments: Any) -> None:
            raise LedgerError("the disk is full")

        def stated(self: Any, before: Any, rows: Any) -> None:
            write(self, before, rows)
            monkeypatch.setattr(high_water.HighWater, "write", full)

        def failing(self: Any, dataset: str, before: Any, rows: Any, sink: Any = None) -> None:
            def fail() -> None:
                sink()
                full()

            append(self, dataset, before, rows, fail)

        with monkeypatch.context() as patch:
            patch.setattr(SQLiteLog, "append", failing)
            monkeypatch.setattr(high_water.HighWater, "write", stated)
            event = make_event(0.25, key="k")
            with pytest.raises(LedgerUnknownError):
                marked.charge(event)
        monkeypatch.setattr(high_water.HighWater, "write", write)
        assert marked.charge(event), "nobody was told of it: whoever asks again may release"
        assert marked.spent == 0.25
        assert verify_ledger(marked).sequence == 1

    def test_nothing_is_charged_without_it(
        self, marked: SharedLedger, mark: Path, make_event: MakeEvent
    ) -> None:
        marked.charge(make_event(0.25))
        mark.rename(mark.with_name("away"))
        with pytest.raises(LedgerError, match="high"):
            marked.charge(make_event(0.25))
        close_ledgers()
        with pytest.raises(LedgerError, match="high"):
            _ = marked.spent
        result = CliRunner().invoke(app, ["ledger", "mark", marked.uri])
        assert result.exit_code == 0, result.output
        assert marked.charge(make_event(0.25))
        assert marked.spent == 0.5

    def test_two_copies_in_turns_do_not_spend_twice(
        self, marked: SharedLedger, path: Path, tmp_path: Path, make_event: MakeEvent
    ) -> None:
        marked.charge(make_event(0.25))
        backup(path, tmp_path / "copy.db")
        copy = SharedLedger(f"sqlite:///{tmp_path}/copy.db")
        assert copy.spent == 0.25
        charged = 1
        for ledger in (marked, copy, copy, marked, marked, copy):
            try:
                charged += ledger.charge(make_event(0.25))
            except (BudgetExhaustedError, LedgerCorruptedError):
                continue  # a copy that is one row behind is brought up, a later one refused
        assert charged == 4
        assert copy.spent == 1.0

    def test_another_ledgers_file_is_refused(
        self, marked: SharedLedger, mark: Path, tmp_path: Path, make_event: MakeEvent
    ) -> None:
        second = tmp_path / "second.end"
        other = SharedLedger.found(f"sqlite:///{tmp_path}/o.db", 1.0, high_water=str(second))
        own, theirs = mark.read_bytes(), second.read_bytes()
        for ledger, file, wrong in ((marked, mark, theirs), (other, second, own)):
            right = file.read_bytes()
            file.write_bytes(wrong)
            close_ledgers()
            with pytest.raises(LedgerError, match="is another ledger's"):
                ledger.charge(make_event(0.25))
            file.write_bytes(right)
        assert other.charge(make_event(0.25))
        with pytest.raises(LedgerError, match="already"):
            SharedLedger.found(f"sqlite:///{tmp_path}/p.db", 1.0, high_water=str(second))

    def test_a_server_put_back(
        self, server: Any, tmp_path: Path, mark: Path, make_event: MakeEvent
    ) -> None:
        address = server.database()
        ledger: Any = SharedLedger.found(address, 1.0, high_water=str(mark))
        ledger.charge(make_event(0.25))
        backup(address, tmp_path / "older.db")
        for _ in range(2):
            ledger.charge(make_event(0.25))
        assert verify_ledger(ledger).sequence == 3
        with pytest.raises(LedgerCorruptedError, match="older"):
            restore(tmp_path / "older.db", server.database())
        restore(tmp_path / "older.db", server.database(), new_start=True)


def damaged(content: bytes, generator: random.Random) -> bytes:
    if generator.random() < 0.2:
        return content[: generator.randrange(len(content))]
    changed = bytearray(content)
    changed[generator.randrange(len(changed))] ^= 1 << generator.randrange(8)
    return bytes(changed)


def flips(folder: Path, make_event: MakeEvent, times: int, *, high_water: bool) -> list[str]:
    """Damaged copies of a ledger that pass for a smaller sum."""
    name, mark = folder / "l.db", folder / "l.end"
    ledger: Any = SharedLedger.found(
        f"sqlite:///{name}", 4.0, high_water=str(mark) if high_water else ""
    )
    for number in range(CHARGES):
        ledger.charge(make_event(0.125, key=f"first {number}"))
    close_ledgers()  # these are in the file
    with closing(sqlite3.connect(name)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM log").fetchone()
        for number in range(CHARGES):  # and these in its log, which nobody moves over
            ledger.charge(make_event(0.125, key=f"second {number}"))
        saved = {end: Path(f"{name}{end}").read_bytes() for end in ("", "-wal")}
        stated = mark.read_bytes() if high_water else b""
        close_ledgers()
    generator, silent = random.Random(3), []
    for number in range(times):
        end = ("", "-wal")[number % 2]
        for each in ("", "-wal", "-shm"):
            Path(f"{name}{each}").unlink(missing_ok=True)
        for each, content in saved.items():
            copy = damaged(content, generator) if each == end else content
            Path(f"{name}{each}").write_bytes(copy)
        if high_water:
            mark.write_bytes(stated)
        close_ledgers()
        try:
            found: Any = open_ledger(f"sqlite:///{name}", ceiling=None)
            rows, spent = verify_ledger(found).sequence, found.spent
        except LedgerError:
            continue
        cut_tail = not high_water and end == "-wal" and spent == 0.125 * rows >= 0.125 * CHARGES
        if spent < 0.125 * 2 * CHARGES and not cut_tail:
            silent.append(f"{number} {end}: {rows} rows, {spent}")
    return silent


class TestDamage:
    @pytest.mark.parametrize("high_water", [True, False])
    def test_flips_and_truncations(
        self, tmp_path: Path, make_event: MakeEvent, high_water: bool
    ) -> None:
        assert flips(tmp_path, make_event, 60, high_water=high_water) == []

    @pytest.mark.soak
    @pytest.mark.timeout(1800)
    @pytest.mark.parametrize("high_water", [True, False])
    def test_two_thousand(self, tmp_path: Path, make_event: MakeEvent, high_water: bool) -> None:
        times = 200 if os.environ.get("PACSKLEARN_SOAK") == "sample" else 2000
        assert flips(tmp_path, make_event, times, high_water=high_water) == []

    def test_a_row_that_an_index_still_has_is_missed(
        self, ledger: SharedLedger, path: Path, make_event: MakeEvent
    ) -> None:
        """A page of the table without its last cell: the chain before it is whole."""
        for number in range(4):
            ledger.charge(make_event(0.125, key=f"k{number}"))
        close_ledgers()
        with closing(sqlite3.connect(path)) as raw:
            (root,) = raw.execute("SELECT rootpage FROM sqlite_master WHERE name='log'").fetchone()
            (size,) = raw.execute("PRAGMA page_size").fetchone()
        content = bytearray(path.read_bytes())
        cells = (root - 1) * size + 3
        content[cells : cells + 2] = (int.from_bytes(content[cells : cells + 2]) - 1).to_bytes(2)
        path.write_bytes(content)
        assert verify_exit(path) == 1

    def test_repair_forgets_nothing_that_a_row_states(
        self, ledger: SharedLedger, path: Path, tmp_path: Path, make_event: MakeEvent
    ) -> None:
        for number in range(5):
            ledger.charge(make_event(0.125, key=f"k{number}"))
        close_ledgers()
        with closing(sqlite3.connect(path, isolation_level=None)) as raw:
            raw.execute("PRAGMA secure_delete = ON")
            raw.execute("DROP TRIGGER log_no_delete")
            raw.execute("DELETE FROM log WHERE number IN (2, 4)")
            raw.execute("VACUUM")
        report = repair(path, tmp_path / "new.db", signed_by="A", reason="lost rows")["default"]
        assert (report["kept"], report["set_aside"], report["charged"]) == (1, 2, 0.5)
        assert SharedLedger(f"sqlite:///{tmp_path}/new.db").spent == 0.625

    def test_files_that_cannot_be_read_through_are_repaired(
        self, tmp_path: Path, make_event: MakeEvent
    ) -> None:
        path = tmp_path / "l.db"
        ledger = SharedLedger.found(f"sqlite:///{path}", 4.0)
        for number in range(30):
            ledger.charge(make_event(0.125, key=f"k{number}"))
        close_ledgers()
        whole, generator, repaired = path.read_bytes(), random.Random(1), 0
        for number in range(12):
            content = bytearray(whole)
            start = generator.randrange(5, len(content) // 4096 - 3) * 4096
            content[start : start + 4096] = bytes(4096)
            path.write_bytes(content)
            close_ledgers()
            target = tmp_path / f"new{number}.db"
            try:
                repair(path, target, signed_by="A", reason="a page of zeros")
            except LedgerCorruptedError:
                continue  # the founding was there
            found = SharedLedger(f"sqlite:///{target}")
            verify_ledger(found)
            assert found.spent >= 3.75
            repaired += 1
        assert repaired >= 8

    def test_repair_of_a_file_that_lost_its_end_assumes_the_most(
        self, tmp_path: Path, make_event: MakeEvent
    ) -> None:
        """No row that is left says what the lost ones charged."""
        path = tmp_path / "l.db"
        ledger = SharedLedger.found(f"sqlite:///{path}", 8.0)
        for number in range(30):
            ledger.charge(make_event(0.125, key=f"k{number}"))
        close_ledgers()
        whole, generator, repaired = path.read_bytes(), random.Random(2), 0
        for number in range(6):
            path.write_bytes(whole[: generator.randrange(len(whole) // 2, len(whole))])
            close_ledgers()
            target = tmp_path / f"new{number}.db"
            try:
                repair(path, target, signed_by="A", reason="a file that was cut")
            except LedgerCorruptedError:
                continue  # the founding was there
            repaired += 1
            found = SharedLedger(f"sqlite:///{target}")
            assert found.spent >= 3.75
            verify_ledger(found)
        assert repaired >= 2

    def test_the_newest_answers_cannot_be_taken_out(
        self, ledger: SharedLedger, path: Path, make_event: MakeEvent
    ) -> None:
        import numpy as np

        from pacsklearn.estimators.ledger_answers import AnswerTable

        table = AnswerTable(ledger, "s", bytes(32))
        table.begin(np.zeros(4))
        for number in range(2):
            name = table.name("r", bytes([number]))
            table.put("r", {name: (np.int64(number), 0.5)}, number, np.full(4, float(number)))
        assert verify_ledger(ledger).sequence == 3
        with closing(sqlite3.connect(path, isolation_level=None)) as raw:
            triggers = raw.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            kept = triggers.fetchall()
            for trigger, _ in kept:
                raw.execute(f"DROP TRIGGER {trigger}")
            raw.execute("DELETE FROM answers WHERE number = 3")
            for _, text in kept:
                raw.execute(text)
        close_ledgers()
        with pytest.raises(LedgerCorruptedError, match="row 3"):
            verify_ledger(ledger)
        with pytest.raises(LedgerCorruptedError, match="stored"):
            table.last_belief()


class TestCallers:
    def test_a_writer_that_dies_fails_its_callers(
        self, ledger: SharedLedger, make_event: MakeEvent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def dying(*_: Any) -> None:
            raise MemoryError

        with monkeypatch.context() as patch:
            patch.setattr(writer, "groupby", dying)
            with pytest.raises(MemoryError):
                ledger.charge(make_event(0.125))
        assert ledger.charge(make_event(0.125))
        assert ledger.spent == 0.125

    def test_a_process_that_is_stopped_in_its_commit(
        self, ledger: SharedLedger, make_event: MakeEvent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Others read on, are told after their patience, and count it when it goes on."""
        from pacsklearn.kernel.ledger import log
        from pacsklearn.kernel.ledger.sqlite_log import SQLiteLog

        append = SQLiteLog.append
        child = os.fork()
        if child == 0:
            SQLiteLog.append = lambda self, dataset, before, rows, _=None: append(  # type: ignore[method-assign]
                self, dataset, before, rows, lambda: signal.raise_signal(signal.SIGSTOP)
            )
            try:
                ledger.charge(make_event(0.5, key="stopped"))
            finally:
                os._exit(0)
        os.waitpid(child, os.WUNTRACED)
        monkeypatch.setattr(log, "PATIENCE", 0.2)
        with pytest.raises(LedgerError, match="locked"):
            ledger.charge(make_event(0.75, key="waiting"))
        assert ledger.spent == 0
        os.kill(child, signal.SIGCONT)
        os.waitpid(child, 0)
        with pytest.raises(BudgetExhaustedError):
            ledger.charge(make_event(0.75, key="waiting"))
        assert ledger.spent == 0.5
        assert verify_ledger(ledger).sequence == 1

    def test_those_who_share_a_commit_get_their_own_outcomes(
        self, uri: str, make_event: MakeEvent
    ) -> None:
        ledger = SharedLedger.found(uri, 1.0)
        outcomes: list[Any] = []

        def charge(amount: float) -> None:
            try:
                outcomes.append(ledger.charge(make_event(amount)))
            except Exception as error:  # noqa: BLE001 - compared below
                outcomes.append(type(error).__name__)

        threads = [threading.Thread(target=charge, args=(each,)) for each in (0.5, 0.75, 0.25)]
        path = uri.removeprefix("sqlite:///")
        with closing(sqlite3.connect(path, isolation_level=None)) as raw:
            raw.execute("BEGIN IMMEDIATE")  # they all wait
            for thread in threads:
                thread.start()
            raw.execute("ROLLBACK")
        for thread in threads:
            thread.join()
        assert min(map(str, outcomes)) == "BudgetExhaustedError"
        assert ledger.spent <= 1.0
        verify_ledger(ledger)

    def test_a_checkpoint_is_undone_with_its_row(
        self, ledger: SharedLedger, make_event: MakeEvent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from pacsklearn.kernel.ledger.sqlite_log import SQLiteLog

        monkeypatch.setattr(fold, "CHECKPOINT", 2)
        append, refuse = SQLiteLog.append, iter([0, 1] * 20)

        def failing(self: SQLiteLog, *arguments: Any) -> None:
            if next(refuse):
                raise LedgerError("full")
            append(self, *arguments)

        monkeypatch.setattr(SQLiteLog, "append", failing)
        charged = 0
        for _ in range(20):
            try:
                charged += ledger.charge(make_event(2.0**-10))
            except LedgerError:
                assert ledger.spent == charged * 2.0**-10
        assert verify_ledger(ledger).sequence == charged == 10

    def test_an_amount_is_not_negative(self, ledger: SharedLedger) -> None:
        for account in (ledger, MemoryLedger(1.0)):
            for call in (account.allows, account.check):
                with pytest.raises(LedgerMismatchError, match="amount"):
                    call(-1.0)

    @pytest.mark.parametrize(
        "address",
        [
            "postgresql://owner:se-cret@nowhere.invalid/x",
            "postgresql://owner:se@cr:et-se-cret@nowhere.invalid/x",
            "postgresql://owner:a@se-cret@nowhere.invalid/x",
            "postgresql://owner:a/b@c?se-cret@nowhere.invalid/x",
            "postgresql://nowhere.invalid/x?user=o&sslpassword=se-cret",
            "postgresql://nowhere.invalid/x?PASSWORD=se-cret",
            "postgresql://o:se-cret@nowhere.invalid:99999999999999999999/x",
            "postgresql://o:se-cret@nowhere.invalid:port/x",
            "postgresql://o:se-cret@%zz/x",
            "mysql://o:se@cr-se-cret@host/x",
            "postgresql://o@server:se-cret@nowhere.invalid/x",  # as some clouds name users
            "postgresql://nowhere.invalid:1/x?user=o&password=se@cr-se-cret",
            "postgresql://nowhere.invalid/x?passwd=se-cret",
            "postgresql:o:se-cret@host/x",
            "o:se-cret@host/x",
            "host=nowhere.invalid user=o password=se-cret dbname=x",
            "host=nowhere.invalid password = 'my se-cret' user=o",
            "host=nowhere.invalid oauth_client_secret=se-cret user=o",
            "postgresql://nowhere.invalid:1/x?user=o&passwort=se@cr-se-cret",
            "postgresql://o:se-cret@nowhere.invalid:1/x?pwd=se@cr-se-cret",
            "postgresql://nowhere.invalid:1/x?oauth_client_secret=se-cret",
            "postgresql://nowhere.invalid:1/x?scram_client_key=se-cret&port=1",
            "postgresql://nowhere.invalid:1/x?kennwort=se@cr-se-cret",
            "postgresql://nowhere.invalid:1/x?passw%6Frd=se-cret",
            "postgresql://owner:a/b?se-cret=c@nowhere.invalid/x",
        ],
    )
    def test_no_password_is_printed(self, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(LedgerError) as caught:
            open_ledger(address, ceiling=None)
        assert "se-cret" not in str(caught.value)
        assert "cr:et" not in str(caught.value)

    def test_what_is_missing_is_named_with_its_data_set(self, ledger: SharedLedger) -> None:
        with pytest.raises(LedgerError, match="ceiling"):
            open_ledger(ledger.uri, ceiling=None, dataset="ward")
