"""Room that a disk must have for a file before anything is charged."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def disk_room(file: IO[bytes], size: int, path: Path) -> Iterator[None]:
    """Set so many bytes aside for a file that is written in the block; what is left is given back.

    Whoever charges a budget inside the block then does not lose the result to a full disk.

    Parameters
    ----------
    file : file open for writing
    size : int
    path : Path
        What the file will be called, for the message.

    Raises
    ------
    OSError
        When the disk has no room.
    """
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            # Some file systems cannot set room aside.
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise OSError(
                    error.errno,
                    f"No room of {size:,} bytes on the disk; nothing was done",
                    str(path),
                ) from None
    yield
    file.truncate()  # from where writing ended
