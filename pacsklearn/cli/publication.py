"""A released model and its statement on disk: neither budget nor model is lost to a bad disk."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, final

from pacsklearn.cli.options import checked_output
from pacsklearn.core.replacement_file import replacement_file

__all__ = ["Publication", "publication"]

_ROOM: Final = 2**25
"""Bytes kept free for a model before its release is charged; larger ones are rare."""


@final
class Publication:
    """Files that are open before a release is charged, and named when all is written.

    Attributes
    ----------
    model, statement : Path
        Where they will be.
    """

    def __init__(self, model: Path, statement: Path, files: tuple[IO[bytes], IO[bytes]]) -> None:
        self.model, self.statement = model, statement
        self._files = files

    def write(self, model: Any, statement: dict[str, Any]) -> None:
        """Write both; when the disk fails, into the system's folder for temporary files.

        Raises
        ------
        OSError
            Says where the model is instead.
        """
        import joblib

        text = json.dumps(statement, indent=1, allow_nan=False).encode()
        try:
            joblib.dump(model, self._files[0])
            self._files[1].write(text)
            for file in self._files:
                file.flush()
        except OSError as error:
            descriptor, place = tempfile.mkstemp(prefix="pacsklearn-", suffix=".joblib")
            with os.fdopen(descriptor, "wb") as file:
                joblib.dump(model, file)
            Path(f"{place}.statement.json").write_bytes(text)
            raise OSError(
                error.errno,
                f"{error.strerror}. The release is charged, and its model and statement are kept "
                "beside this name; move them, and do not release again",
                place,
            ) from error


@contextmanager
def publication(
    output: Path, statement: Path | None, *, force: bool = False
) -> Iterator[Publication]:
    """Room for a model and its statement, taken before anything is charged."""
    model = checked_output(output, force=force)
    statement_path = checked_output(statement or model.with_suffix(".statement.json"), force=force)
    with (
        replacement_file(statement_path, room=2**20) as second,
        replacement_file(model, room=_ROOM) as first,
    ):
        yield Publication(model, statement_path, (first, second))
