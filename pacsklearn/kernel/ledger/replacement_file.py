"""Files that take the place of earlier ones when all of them is on disk, or not at all."""

from __future__ import annotations

import errno
import os
import platform
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

# Its processes alone are known here to be no more: others may write on the same disk.
_HOST = platform.node().replace(".", "-")


@contextmanager
def replacement_file(path: str | os.PathLike[str], mode: int = 0o600) -> Iterator[IO[bytes]]:
    """Open a file for the block, which takes the place of ``path`` when the block ends well.

    Until the end it stands beside ``path`` under another name; what processes of this host that
    died left of such files is removed.

    Parameters
    ----------
    path : str or path-like
    mode : int, default=0o600
        Who may read and write it from the first moment, less the umask; by default its owner alone.

    Raises
    ------
    OSError
        When the folder is not there or cannot be written; from the beginning, or from the end when
        the disk fails.
    """
    target = Path(os.path.realpath(Path(path).expanduser()))  # a link to itself is replaced
    if target.exists() and not target.is_file():  # a device would be one no more
        raise OSError(errno.EISDIR, "Is a folder or a device; name a file", str(target))
    _remove_abandoned(target)
    made = target.with_name(f".{target.name}.{_HOST}.{os.getpid()}.{uuid.uuid4().hex}")
    # O_EXCL: no link that somebody has put there is followed.
    descriptor = os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            # Before the name changes: after a crash it is the old file or the whole new one.
            os.fsync(file.fileno())
        made.replace(target)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
    # Or a crash could bring the old name's file back.
    synchronise(target.parent)


def replace_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text for others: what is there stays where the disk is full.

    Raises
    ------
    OSError
    """
    with replacement_file(path, 0o666) as file:
        file.write(text.encode())


def _remove_abandoned(target: Path) -> None:
    """Remove what processes of this host that are no more have left beside ``target``."""
    for left in target.parent.glob(f".{target.name}.{_HOST}.*.*"):
        process = left.name.split(".")[-2]
        try:
            # Somebody else's process is alive, and what is no number is no draft.
            with suppress(PermissionError, ValueError, OverflowError):
                os.kill(int(process), 0)
        except ProcessLookupError:
            left.unlink(missing_ok=True)


def synchronise(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk."""
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
