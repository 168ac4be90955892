"""How far a pass over a table is, on the console."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self, final

__all__ = ["PassProgress"]


@final
class PassProgress:
    """A bar with rows a second, and with the time that is left once the table's size is known.

    Parameters
    ----------
    number : int
        Of the pass.
    n_rows : int or None
        Of the table; None in the first pass.
    stream : file or None
        Where it is written; nowhere when None.
    """

    def __init__(self, number: int, n_rows: int | None, stream: Any) -> None:
        self._seen, self._begun = 0, time.monotonic()
        self._bar: Any = None
        if stream is not None:
            from rich.console import Console  # only a user who asks for it needs it
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
            self._bar = Progress(
                *columns,
                console=Console(file=stream),
                redirect_stdout=False,  # fits do that for themselves
                redirect_stderr=False,
            )
            self._task = self._bar.add_task(f"pass {number}", total=n_rows)
        self._number = number

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            if error is None:  # of a first pass the size is known now
                self._bar.update(self._task, total=self._seen)
            self._bar.stop()

    def saw(self, n_rows: int) -> None:
        """Count more rows."""
        self.reached(self._seen + n_rows)

    def reached(self, n_rows: int) -> None:
        """Rows read so far, wherever they were."""
        self._seen = n_rows
        if self._bar is not None:
            rate = n_rows / max(time.monotonic() - self._begun, 1e-9)
            text = f"pass {self._number}: {n_rows:,} rows, {rate:,.0f} rows a second"
            self._bar.update(self._task, completed=n_rows, description=text)
