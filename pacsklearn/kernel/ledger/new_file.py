"""A database's file that appears as a whole, or not at all."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import final

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.ledger.log import DoubtError
from pacsklearn.kernel.ledger.sqlite_log import SQLITE, SQLiteLog, check_no_sides, connect


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


@contextmanager
def new_file(target: Path) -> Iterator[SQLiteLog]:
    """Log in a draft beside ``target``, which it becomes when the block ends well and is on disk.

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
    log = SQLiteLog(SQLITE + str(draft))
    try:
        draft.touch(mode=0o600, exist_ok=False)
        connect(str(draft), "rwc").close()
        yield log
        log.close()  # the last connection moves the log into the file
        _synchronise(draft)  # before it has its name: after a crash it is whole, or not there
        check_no_sides(target)
        try:
            # A link fails where there is a file by now; a renaming would replace it.
            os.link(draft, target)
        except FileExistsError:
            raise TakenError(target) from None
        draft.unlink()
        _synchronise(target.parent)
    except (OSError, sqlite3.Error, DoubtError) as error:
        raise LedgerError(f"{target} cannot be written: {error}.") from None
    finally:
        log.close()
        for end in ("", "-wal", "-shm"):
            draft.with_name(draft.name + end).unlink(missing_ok=True)


def _synchronise(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
