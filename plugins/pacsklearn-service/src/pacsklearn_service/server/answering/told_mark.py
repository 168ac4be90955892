"""Which batch was told last, outside the database: what was told is not drawn a second time."""

from __future__ import annotations

import os
from pathlib import Path

from pacsklearn.exceptions import LedgerCorruptedError, LedgerError


def write_told(path: Path, batch: str) -> None:
    """Name a batch; written in place, so that after the first a full disk does not matter.

    Parameters
    ----------
    path : Path
        Of the file that names the last charged batch of a model whose answers may have been told. A
        database that has lost the end of what was written (a damaged write-ahead log, say) may hold
        that batch as charged and not drawn, which looks as after a kill, and which no high-water
        file of a ledger can tell from it.
    batch : str

    Raises
    ------
    LedgerError
        When the file cannot be written: nothing may be told.
    """
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.pwrite(file, batch.encode(), 0)
        finally:
            os.close(file)
    except OSError as error:
        raise LedgerError(f"{path} cannot be written ({error.strerror}).") from None


def check_told(path: Path, batch: str) -> None:
    """Refuse a batch that was told.

    Raises
    ------
    LedgerCorruptedError
    """
    if path.exists() and path.read_text() == batch:
        raise LedgerCorruptedError(
            0,
            "is charged for answers that the service has lost after it told them, by "
            f"{path}: the database is damaged, or an older copy",
        )
