"""A table that is read in passes, never held whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn.exceptions import TableError
from pacsklearn.information.arrays import Floats
from pacsklearn.tables.hashed_design import unit_names
from pacsklearn.tables.sources import Source, source_of

__all__ = ["Batch", "Table"]

_PART = 40
"""Bits of a row's name that number it within its piece."""


@final
class Batch(NamedTuple):
    """Rows of a table; secret material.

    Attributes
    ----------
    rows : ndarray of shape (n, p)
        Doubles, finite.
    target : ndarray of shape (n,) or None
    names : ndarray of uint64, shape (n,)
        Of the units that the rows belong to.
    """

    rows: Floats
    target: NDArray[Any] | None
    names: NDArray[np.uint64]


@final
@dataclass(eq=False, repr=False)
class Table:
    """Rows that are read in passes: a Parquet folder, a mapped array, batches from anywhere.

    Give it to ``fit`` in the place of ``X``: ``PACPrivate(LogisticRegression()).fit(table)``.

    Parameters
    ----------
    source : path, array, data frame or callable
        A Parquet file or folder; an array or ``numpy.memmap`` of shape (n_rows, n_columns); or a
        function that returns, at each call, a new iterator over ``pyarrow.RecordBatch``, data
        frames or arrays, the same rows in the same order.
    target : str or int, optional
        Name, or position, of the column that is predicted.
    unit : str or int, optional
        Column that names the unit of privacy (a person): whole numbers or texts. All rows with one
        name are used together or not at all. Every row is its own unit when not given, named by
        its place in the source.
    features : sequence of str or int, optional
        Columns to fit on; all others when not given.
    classes : sequence, optional
        Classes of the target, public. When not given they are looked up in one more pass, and are
        public all the same.
    batch_rows : int, default=65536
        Rows in memory at a time, where the source can be asked for so many.

    Notes
    -----
    Every column that is used must hold finite numbers, the target too unless it names classes.
    ``table.n_passes`` counts how often the source was read.
    """

    source: Any
    target: str | int | None = None
    unit: str | int | None = None
    features: Sequence[str | int] | None = None
    classes: Sequence[Any] | None = None
    batch_rows: int = 65536
    n_passes: int = field(default=0, init=False)
    verbose: int = field(default=0, init=False)
    _source: Source = field(init=False)

    def __post_init__(self) -> None:
        check_integer(name="batch_rows", value=self.batch_rows, minimum=1)
        self._source = source_of(self.source)
        if self._source.names is not None:
            for role in ("target", "unit"):
                self._position(role, getattr(self, role), self._source.names)
            self._chosen(self._source.names, len(self._source.names))

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features; None where the source has none."""
        names = self._source.names
        return None if names is None else tuple(names[i] for i in self._chosen(names, len(names)))

    def map(self, work: Callable[[Batch], Any]) -> Iterator[Any]:
        """Results of ``work`` on every batch, in order; one pass over the source."""
        self.n_passes += 1
        for part in range(self._source.n_parts):
            for batch in self._watched(self._batches(part)):
                yield work(batch)

    def total(self, work: Callable[[Batch], Sequence[Any]]) -> list[Any]:
        """Sums, array by array, of the results of ``work``; one pass over the source."""
        totals: list[Any] | None = None
        for arrays in self.map(work):
            if totals is None:
                totals = [np.array(array) for array in arrays]
                continue
            for total, array in zip(totals, arrays, strict=True):
                total += array
        if totals is None:
            raise TableError("The table has no rows.")
        return totals

    def _batches(self, part: int) -> Iterator[Batch]:
        at = 0
        for raw in self._source.read(part, self.batch_rows):
            batch = self._batch(raw, part, at)
            at += len(batch.rows)
            if len(batch.rows):
                yield batch

    def _watched(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        if not self.verbose:
            yield from batches
            return
        from rich.progress import Progress, TextColumn, TimeElapsedColumn

        text = TextColumn("pass {task.description}: {task.completed:,.0f} rows")
        speed = TextColumn("{task.speed:,.0f} rows/s")
        with Progress(text, speed, TimeElapsedColumn()) as progress:
            task = progress.add_task(str(self.n_passes), total=None)
            for batch in batches:
                progress.advance(task, len(batch.rows))
                yield batch

    def _batch(self, raw: Any, part: int, at: int) -> Batch:
        names, column = _columns(raw)
        width = len(names) if names is not None else int(np.shape(raw)[1])
        chosen = self._chosen(names, width)
        rows = np.empty((len(raw), len(chosen)))
        for place, position in enumerate(chosen):
            rows[:, place] = _numbers(column(position), names, position)
        target = self._position("target", self.target, names)
        unit = self._position("unit", self.unit, names)
        if unit is None:
            first = (part << _PART) + at
            own = np.arange(first, first + len(rows), dtype=np.uint64)
        else:
            own = unit_names(column(unit))
        return Batch(rows, None if target is None else np.asarray(column(target)), own)

    def _chosen(self, names: Sequence[str] | None, width: int) -> list[int]:
        if self.features is not None:
            found = [self._position("features", one, names) for one in self.features]
            return [position for position in found if position is not None]
        apart = {self._position(role, getattr(self, role), names) for role in ("target", "unit")}
        return [position for position in range(width) if position not in apart]

    def _position(self, role: str, given: Any, names: Sequence[str] | None) -> int | None:
        if given is None or (isinstance(given, int) and not isinstance(given, bool)):
            return given
        if names is None:
            raise TableError(
                f"{role}={given!r}: the columns of this source have no names; give positions."
            )
        if given not in names:
            shown = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
            raise TableError(f"{role}={given!r} is no column of the source, which has {shown}.")
        return names.index(given)


def _columns(raw: Any) -> tuple[list[str] | None, Callable[[int], Any]]:
    """Names of a batch's columns, and how to take one as an array."""
    if hasattr(raw, "schema") and hasattr(raw, "column"):  # pyarrow
        return list(raw.schema.names), lambda i: raw.column(i).to_numpy(zero_copy_only=False)
    if hasattr(raw, "iloc"):
        return list(map(str, raw.columns)), lambda i: raw.iloc[:, i].to_numpy()
    if getattr(raw, "ndim", None) == 2:
        return None, lambda i: raw[:, i]
    raise TableError(
        "A batch must be a pyarrow.RecordBatch, a data frame or a two-dimensional array, got "
        f"{type(raw).__name__}."
    )


def _numbers(values: Any, names: Sequence[str] | None, position: int) -> Floats:
    name = position if names is None else repr(names[position])
    column = np.asarray(values)
    if column.dtype.kind not in "biuf":
        raise TableError(
            f"Column {name} does not hold numbers. Encode it where the table is made, or leave it "
            "out with features=."
        )
    numbers = column.astype(np.float64)
    if not np.all(np.abs(numbers) <= 1e100):
        raise TableError(
            f"Column {name} holds a missing, infinite or huge value. Fill it in where the table is "
            "made, or leave the column out with features=."
        )
    return numbers
