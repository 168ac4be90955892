"""Disks that are full, cannot be written, or fail when they synchronise: no charge is forgotten."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from pacsklearn.exceptions import LedgerCorruptedError, LedgerError
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.testing.fresh_process import close_ledgers
from pacsklearn.upkeep.backup import backup, restore
from pacsklearn.upkeep.verification import verify_ledger

MakeEvent = Callable[..., Event]
TINY = 2.0**-20


def run(*words: object) -> None:
    subprocess.run(  # noqa: S603 - programs of the system
        [str(word) for word in words], check=True, capture_output=True, timeout=120
    )


def mounted(folder: Path, *words: object) -> Path:
    folder.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    try:
        run("mount", *words, folder)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no disk can be mounted here: {error}")
    return folder


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Disk in memory of 1 MB."""
    folder = mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=1m", "tmpfs")
    yield folder
    close_ledgers()
    run("umount", folder)


@pytest.fixture
def failing(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Disk of 8 MB on another one of 3 MB: when this is full, fsync fails (EIO)."""
    under = mounted(tmp_path / "under", "-t", "tmpfs", "-o", "size=3m", "tmpfs")
    upper = tmp_path / "upper"
    try:
        image = under / "image"
        with image.open("wb") as file:
            file.truncate(2**23)
        try:
            run("mkfs.ext4", "-q", "-b", "1024", "-O", "^has_journal", image)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no file system can be made here: {error}")
        mounted(upper, "-o", "loop,errors=continue", image)
        yield under, upper
        close_ledgers()
    finally:
        with suppress(subprocess.CalledProcessError):
            run("umount", upper)
        run("umount", "-l", under)


def fill(folder: Path) -> Path:
    """File that takes all that is left."""
    filler = folder / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    return filler


def charged_until_it_fails(
    ledger: SharedLedger, make_event: MakeEvent, most: int
) -> tuple[list[str], str]:
    """Keys that were told, and the one that was not."""
    told: list[str] = []
    for number in count():
        assert number < most, "the disk never failed"
        try:
            assert ledger.charge(make_event(TINY, key=f"{number}", backend="x" * 900))
        except LedgerError:
            return told, f"{number}"
        told.append(f"{number}")
    raise AssertionError


def check(ledger: SharedLedger, told: list[str], failed: str) -> None:
    recorded = [event.key for event in ledger.events]
    assert recorded[: len(told)] == told
    assert set(recorded) <= {*told, failed}
    assert ledger.spent == len(recorded) * TINY
    assert verify_ledger(ledger).sequence == len(recorded)


@pytest.mark.parametrize("marked", [False, True])
def test_a_full_disk(disk: Path, make_event: MakeEvent, marked: bool) -> None:
    end = str(disk / "clinic.end") if marked else ""
    ledger = SharedLedger.found(f"sqlite:///{disk}/clinic.db", 1.0, high_water=end)
    filler = fill(disk)
    told, failed = charged_until_it_fails(ledger, make_event, 2000)
    filler.unlink()
    check(ledger, told, failed)
    ledger.charge(make_event(TINY, key=failed, backend="x" * 900))
    assert not ledger.charge(make_event(TINY, key=failed, backend="x" * 900))
    verify_ledger(ledger)


def test_a_copy_that_a_disk_has_no_room_for_is_what_cannot_be_written(
    disk: Path, tmp_path: Path, make_event: MakeEvent
) -> None:
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/clinic.db", 1.0)
    ledger.charge(make_event(0.25))
    fill(disk)
    for write in (backup, restore):
        with pytest.raises(LedgerError, match=rf"{disk}/copy.db cannot be written: .*full\.$"):
            write(tmp_path / "clinic.db", disk / "copy.db")
        assert [*disk.glob("*copy*")] == []
    verify_ledger(ledger)


def test_a_disk_that_became_read_only(disk: Path, make_event: MakeEvent) -> None:
    ledger = SharedLedger.found(f"sqlite:///{disk}/clinic.db", 1.0)
    ledger.charge(make_event(0.25, key="before"))
    close_ledgers()
    run("mount", "-o", "remount,ro", disk)
    with pytest.raises(LedgerError):
        ledger.charge(make_event(0.25, key="during"))
    assert ledger.spent == 0.25
    close_ledgers()
    run("mount", "-o", "remount,rw", disk)
    assert ledger.find("during") is None
    assert ledger.charge(make_event(0.25, key="during"))
    assert verify_ledger(ledger).sequence == 2


def test_a_synchronisation_that_fails(failing: tuple[Path, Path], make_event: MakeEvent) -> None:
    """What was told is found again, in memory and on the disk, or the damage is: never less."""
    under, upper = failing
    ledger = SharedLedger.found(f"sqlite:///{upper}/clinic.db", 1.0)
    before = [f"before {number}" for number in range(20)]
    for key in before:
        ledger.charge(make_event(TINY, key=key))
    filler = fill(under)
    told, failed = charged_until_it_fails(ledger, make_event, 20_000)
    filler.unlink()
    # A file system whose own blocks were lost may have damaged the file, which is said then.
    with suppress(LedgerCorruptedError):
        check(ledger, before + told, failed)
    close_ledgers()
    # As after a restart: by what is on the disk, and not in the machine's memory.
    run("umount", upper)
    run("mount", "-o", "loop", under / "image", upper)
    with suppress(LedgerCorruptedError):
        check(ledger, before + told, failed)
