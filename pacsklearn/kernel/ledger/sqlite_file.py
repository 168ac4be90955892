"""Files of SQLite ledgers: where they are, which they are, and how a new one appears."""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final, final

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.ledger.address import without_password
from pacsklearn.kernel.ledger.log import DoubtError, waits
from pacsklearn.kernel.ledger.replacement_file import synchronise

SQLITE: Final = "sqlite:///"
"""What the address of a database in a file begins with."""

# SQLite waits longer and longer, and whoever waits longest loses; short waits of our own are fair.
_BUSY_SECONDS: Final = 0.02
_SIDES: Final = ("-wal", "-shm", "-journal")


@final
class TakenError(LedgerError):
    """A file is where the new one was to be."""

    def __init__(self, path: object) -> None:
        super().__init__(
            f"There is already a file {path}, which is left as it is; move it away, or give "
            "another name."
        )


def check_free(target: Path) -> None:
    """Refuse a place that is taken, or in no folder.

    Raises
    ------
    LedgerError
    """
    if target.exists():
        raise TakenError(target)
    check_no_sides(target)
    if not target.parent.is_dir():
        raise LedgerError(f"There is no folder {target.parent} for {target.name}; create it first.")


def ledger_path(uri: str) -> Path:
    """Return the file that an address names."""
    address = str(uri)
    name = address.removeprefix(SQLITE)
    if name in ("", address) or name.startswith(("file:", ":memory:")) or "?" in name:
        raise LedgerError(
            "A ledger's address is 'sqlite:///path' of a file, without options (three slashes "
            f"and a relative path, or four and an absolute one), got {without_password(address)!r}."
        )
    return Path(name).expanduser().resolve()


def connect(path: str, mode: str) -> sqlite3.Connection:
    """Return connection to a file that exists: one that has vanished must not come back empty."""
    raw = sqlite3.connect(
        f"{Path(path).as_uri()}?mode={mode}",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        if mode.startswith("rw"):
            (log,) = raw.execute("PRAGMA journal_mode = WAL").fetchone()
            raw.execute("PRAGMA synchronous = FULL")
            if log != "wal":
                raise LedgerError(
                    f"The file system of {path} does not allow write-ahead logging; put "
                    "the ledger on a local disk."
                )
        raw.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except BaseException:
        raw.close()
        raise
    return raw


def check_no_sides(path: str | Path) -> None:
    """Refuse a place where a file that is gone has left its log: it would be read into a new one.

    Raises
    ------
    LedgerError
    """
    for end in _SIDES:
        side = Path(f"{path}{end}")
        if side.exists():
            raise LedgerError(
                f"There is a {side} of a ledger that is not there any more, and it may hold "
                "charges: put the ledger back beside it, or move it away."
            )


def file_identity(path: str) -> tuple[int, int]:
    """Return the device and inode of a ledger's file.

    Raises
    ------
    LedgerError
        When there is none, or it has several names: each name has a write-ahead log of its own.
    """
    for _ in waits(1.0):  # a file that is just being founded has two for a moment
        try:
            status = os.stat(path)  # noqa: PTH116 - on the way of every charge
        except OSError:
            raise LedgerError(
                f"There is no ledger at {path}. Name one that was moved by its new place, or found "
                f"a new one: `pacsklearn ledger found {path} --ceiling ...`."
            ) from None
        if stat.S_ISDIR(status.st_mode):
            raise LedgerError(f"{path} is a folder; name the ledger's file.")
        if status.st_size == 0:
            raise LedgerError(f"The file {path} is empty: there is no ledger in it.")
        if status.st_nlink == 1 and not _is_mounted(path):
            return status.st_dev, status.st_ino
    raise LedgerError(
        f"The file {path} has several names (hard links, or a mount of the file without its "
        "folder), and each has a log of its own: charges to one are not seen by the other. Remove "
        "all but one, with a symbolic link in the place of each; mount the folder."
    )


@cache
def _is_mounted(path: str) -> bool:
    """Return whether Linux has mounted the file by itself, as containers are given files."""
    mounts = Path("/proc/self/mountinfo")
    lines = mounts.read_text().splitlines() if mounts.exists() else []
    return path.replace(" ", r"\040") in [line.split()[4] for line in lines]


def file_state(path: str) -> tuple[object, ...]:
    """Return what changes when a file, or its log, is written."""
    status, log = os.stat(path), Path(path + "-wal")  # noqa: PTH116
    return status.st_ino, status.st_mtime_ns, status.st_size, log.exists() and log.stat().st_size


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Draft beside ``target``, which it becomes when the block ends well and is on disk.

    Only its owner can read it; whoever shares a ledger lets others in.

    Raises
    ------
    TakenError
        When a file is there, or has appeared in the meantime.
    LedgerError
        When it cannot be written, for instance on a full disk; nothing is left of it then.
    """
    check_free(target)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}.draft")
    try:
        draft.touch(mode=0o600, exist_ok=False)
        connect(str(draft), "rwc").close()
        yield draft
        synchronise(draft)  # before it has its name: after a crash it is whole, or not there
        check_no_sides(target)
        try:
            # A link fails where there is a file by now; a renaming would replace it.
            os.link(draft, target)
        except FileExistsError:
            raise TakenError(target) from None
        draft.unlink()
        synchronise(target.parent)
    except (OSError, sqlite3.Error, DoubtError) as error:
        raise LedgerError(f"{target} cannot be written: {str(error).rstrip('.')}.") from None
    finally:
        for end in ("", "-wal", "-shm"):
            draft.with_name(draft.name + end).unlink(missing_ok=True)
