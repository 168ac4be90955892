"""A released model and its statement on disk: neither budget nor model is lost to a bad disk."""

from __future__ import annotations

import errno
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, final

from pacsklearn.cli.extensions import writer
from pacsklearn.cli.options import Files, checked_output, json_of
from pacsklearn.exceptions import BundleError
from pacsklearn.kernel.ledger.replacement_file import replacement_file

_ROOM: Final = 2**25
"""Bytes kept free for a model before its release is charged; larger ones are rare."""

_KEPT: Final = (
    "its model and statement are kept beside this name; move them, and do not release again"
)


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
                full = f"No room of {size:,} bytes on the disk; nothing was done"
                raise OSError(error.errno, full, str(path)) from None
    yield
    file.truncate()  # from where writing ended


@final
@dataclass(frozen=True)
class Publication:
    """Files that are open before a release is charged, and named when all is written.

    Parameters
    ----------
    model, statement : Path
        Where they will be.
    files : tuple of two files
    content : callable
        What the model's file will hold, from the model.
    force : bool
        Whether they may take the place of what another process has written meanwhile.
    """

    model: Path
    statement: Path
    files: tuple[IO[bytes], IO[bytes]]
    content: Callable[[Any], bytes]
    force: bool

    def write(self, model: Any, statement: dict[str, Any]) -> None:
        """Write both; where that fails, into the system's folder for temporary files.

        Raises
        ------
        OSError, BundleError
            Says where the model is instead.
        """
        import joblib

        text = json.dumps(statement, indent=1, allow_nan=False).encode()
        try:
            if not self.force and (self.model.exists() or self.statement.exists()):
                raise OSError(errno.EEXIST, "Another process has written a file of this name")
            self.files[0].write(self.content(model))
            self.files[1].write(text)
            for file in self.files:
                file.flush()
                # Here a disk that fails costs the name alone; at the end it would cost the model.
                os.fsync(file.fileno())
        except (OSError, BundleError) as error:
            try:
                descriptor, place = tempfile.mkstemp(prefix="pacsklearn-", suffix=".joblib")
                with os.fdopen(descriptor, "wb") as file:
                    joblib.dump(model, file)
                Path(f"{place}.statement.json").write_bytes(text)
            except OSError as again:
                lost = f"{again.strerror}. The release is charged, and its model is lost"
                raise OSError(again.errno, lost, str(self.model)) from error
            if isinstance(error, BundleError):
                raise BundleError(f"{error} The release is charged; {_KEPT}: {place}") from error
            raise OSError(
                error.errno, f"{error.strerror}. The release is charged, and {_KEPT}", place
            ) from error


@contextmanager
def publication(files: Files) -> Iterator[Publication]:
    """Take the names of a model and its statement before anything is charged.

    What writes a signed bundle is looked for first; a key that cannot sign, and a card that cannot
    be written, are refused before too.
    """
    content: Callable[[Any], bytes] = _dumped
    if files.key is not None:
        about = None if files.about is None else read_about(files.about)
        content = writer("bundle")(files.key, about)
    elif files.about is not None:
        raise ValueError("--about is for a signed bundle: give --key too.")
    model = checked_output(files.output, force=files.force)
    beside = files.statement or model.with_suffix(".statement.json")
    statement = checked_output(beside, force=files.force)
    with (
        replacement_file(statement) as second,
        disk_room(second, 2**20, statement),
        replacement_file(model) as first,
        disk_room(first, _ROOM, model),
    ):
        yield Publication(model, statement, (first, second), content, files.force)


def _dumped(model: Any) -> bytes:
    import joblib

    file = io.BytesIO()
    joblib.dump(model, file)
    return file.getvalue()


def read_about(path: Path) -> dict[str, Any]:
    """Return what a curator says about a model, from a JSON file.

    Raises
    ------
    ValueError
    """
    document = json_of(path) if path.is_file() else None
    if not isinstance(document, dict):
        raise ValueError(f"{path.name} must hold a JSON object of texts.")
    return document
