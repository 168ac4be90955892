"""Which batch was told last, outside the database: what was told is not drawn a second time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import final

from pacsklearn.exceptions import LedgerCorruptedError, LedgerError


@final
class ToldMark:
    """File that names the last charged batch of a model whose answers may have been told.

    A database that has lost the end of what was written (a damaged write-ahead log, say) may hold
    that batch as charged and not drawn, which looks as after a kill, and which no high-water file
    of a ledger can tell from it.

    Parameters
    ----------
    folder : Path
        That of the high-water files.
    model : str
    """

    def __init__(self, folder: Path, model: str) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = folder / f"{model}.told"

    def write(self, batch: str) -> None:
        """Name a batch; written in place, so that after the first a full disk does not matter.

        Raises
        ------
        LedgerError
            When the file cannot be written: nothing may be told.
        """
        try:
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.pwrite(file, batch.encode(), 0)
            finally:
                os.close(file)
        except OSError as error:
            raise LedgerError(f"{self._path} cannot be written ({error.strerror}).") from None

    def check(self, batch: str) -> None:
        """Refuse a batch that was told.

        Raises
        ------
        LedgerCorruptedError
        """
        if self._path.exists() and self._path.read_text() == batch:
            raise LedgerCorruptedError(
                0,
                "is charged for answers that the service has lost after it told them, by "
                f"{self._path}: the database is damaged, or an older copy",
            )
