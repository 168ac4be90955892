"""The end of a ledger, kept outside its database: an older copy put back is noticed."""

from __future__ import annotations

import errno
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, final

from pacsklearn.exceptions import LedgerCorruptedError, LedgerError
from pacsklearn.kernel.ledger.log import Log, MovedError, waits
from pacsklearn.kernel.ledger.replacement_file import replacement_file
from pacsklearn.kernel.ledger.row import Founding, Position, Row, json_text

_LARGEST: Final = 2**20
"""Bytes after which the file is written anew; its last line is all that counts."""


_WRITTEN: dict[Path, tuple[int, Position]] = {}
"""Sizes of files as this process left them, and the ends that they state."""


@final
class StaleError(Exception):
    """The file states rows that the log does not hold yet."""


@final
class HighWater:
    """File that states the rows which the log is about to hold.

    A line is added, and on disk, before they are committed. Rows that it states and the log lacks,
    right after the log's head, are of a writer that died in between: they are appended then. A
    log that ends earlier is an older copy.

    Parameters
    ----------
    founding : Founding
        Names the file.
    """

    def __init__(self, founding: Founding) -> None:
        self._founding = founding
        self._path = Path(founding.high_water)

    def create(self, head: Position) -> None:
        """Make the file, or write it anew on purpose.

        Raises
        ------
        LedgerError
            When it cannot be written.
        """
        with self._errors(), replacement_file(self._path) as file:
            file.write(self._line(head, ()))

    def write(self, before: Position, rows: Sequence[Row]) -> None:
        """State rows that come after a position.

        Raises
        ------
        StaleError
            When others have stated rows that the log lacks: :meth:`check` it first.
        LedgerError
            When the file is not there, or cannot be written.
        """
        line = self._line(before, rows)
        last = rows[-1].position if rows else before
        if rows:  # what others stated and have not committed must not be written over
            self._check_last(before)
        with self._errors():
            with self._path.open("r+b", buffering=0) as file:
                size = file.seek(0, os.SEEK_END)
                if size < _LARGEST:
                    try:
                        if file.write(line) != len(line):
                            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                        os.fsync(file.fileno())
                    except OSError:
                        # Nothing was committed: half a line, or a whole one, must not stay.
                        file.truncate(size)
                        raise
                    _WRITTEN[self._path] = size + len(line), last
                    return
            with replacement_file(self._path) as file:
                file.write(line)
            _WRITTEN[self._path] = len(line), last

    def _check_last(self, before: Position) -> None:
        """Refuse to go on where the file was written by others, and the log does not hold it."""
        with self._errors():
            size = self._path.stat().st_size
        if _WRITTEN.get(self._path) == (size, before):
            return
        stated_after, stated = self.read()
        last = stated[-1].position if stated else stated_after
        if before != last and before.sequence <= last.sequence:
            raise StaleError

    def _line(self, before: Position, rows: Sequence[Row]) -> bytes:
        facts = {
            "ledger": self._founding.hash,
            "before": str(before),
            "rows": [[row.number, row.key, row.line, _as_text(row.answers)] for row in rows],
        }
        # A line whose end was not written never counted: its rows were not committed.
        return f"\n{json_text(facts)}\n".encode()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise LedgerError(
                f"The high-water file {self._path} cannot be written ({error.strerror}): nothing "
                "was charged. Put it back, or free some space."
            ) from None

    def check(self, log: Log) -> None:
        """Compare the log with the file, and append what a writer that died had stated.

        Raises
        ------
        LedgerCorruptedError
            When the log ends before what the file states: it is an older copy.
        LedgerError
            When the file cannot be read, or others append without end.
        """
        dataset = self._founding.dataset
        for _ in waits():  # others may be writing
            head = log.head(dataset)
            before, rows = stated = self.read()
            last = rows[-1].position if rows else before
            there = log.row(dataset, last.sequence)
            if there is not None and there.hash == last.hash:
                return  # the log holds it, and perhaps more
            if log.head(dataset) != head:
                continue  # rows were committed meanwhile, and those stated may be among them
            if head is None or not rows or head.position != before:
                # Nothing was committed meanwhile, and a writer that is at work states rows right
                # after the head: these were committed once, and are lost.
                break
            # A writer is between the file and the commit, or died there. Nobody was told of its
            # rows, and charging them errs on the safe side; a writer that is alive commits first.
            with suppress(MovedError):
                log.append(dataset, before, rows, partial(self._check_same, stated))
                return
        else:
            raise MovedError
        raise LedgerCorruptedError(
            last.sequence,
            f"is missing, and stood in the ledger by its high-water file {self._path}: the "
            "database is an older copy, or lost its end",
        )

    def _check_same(self, stated: tuple[Position, list[Row]]) -> None:
        """Refuse to append rows that the file does not state any more."""
        if self.read() != stated:
            raise MovedError

    def read(self) -> tuple[Position, list[Row]]:
        """Return a position and the rows after it that the file states.

        Raises
        ------
        LedgerError
        """
        try:
            whole = self._path.read_bytes().rpartition(b"\n")[0]
            facts: dict[str, Any] = json.loads(whole.rstrip(b"\n").rpartition(b"\n")[2])
            if facts["ledger"] != self._founding.hash:
                raise LedgerError(
                    f"The high-water file {self._path} is another ledger's. Put this ledger's back."
                )
            dataset = self._founding.dataset
            read = [(*own, _as_bytes(answers)) for *own, answers in facts["rows"]]
            rows = [Row(dataset, *each) for each in read]
            for row in rows:
                row.facts()
            return Position.parse(facts["before"]), rows
        except (OSError, KeyError, TypeError, ValueError, LedgerCorruptedError) as error:
            raise LedgerError(
                f"The high-water file {self._path} of this ledger cannot be read "
                f"({getattr(error, 'strerror', None) or 'it was altered'}). Put it back; where it "
                "was lost, compare the ledger's position with what was released and write it anew: "
                "`pacsklearn ledger mark`."
            ) from None


def _as_text(answers: tuple[tuple[Any, ...], ...]) -> list[list[str]]:
    return [[name, *(b64encode(part).decode() for part in parts)] for name, *parts in answers]


def _as_bytes(answers: list[list[str]]) -> tuple[Any, ...]:
    return tuple((name, *map(b64decode, parts)) for name, *parts in answers)
