"""A table that is read in passes, never held whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn_bigdata.exceptions import TableError
from pacsklearn_bigdata.sources import Engine, engine_of, source_of
from pacsklearn_bigdata.table_profile import ProfilePiece, TableProfile
from pacsklearn_bigdata.table_reader import N_TRACES, Batch, TableReader

Work = Callable[[Batch], Sequence[Any]]
"""From a batch to arrays, which are added up over all batches."""


@final
class Table:
    """Rows that are read in passes: a Parquet folder, a mapped array, batches from anywhere.

    Give it to ``fit`` in the place of ``X``: ``PACPrivate(LogisticRegression()).fit(table)``.

    Parameters
    ----------
    source : path, array, data frame, dask collection or callable
        A Parquet file or folder; an array or ``numpy.memmap`` of shape (n_rows, n_columns); a
        ``dask.dataframe`` or two-dimensional ``dask.array``; or a function that returns, at each
        call, a new iterator over ``pyarrow.RecordBatch``, data frames or arrays, the same rows in
        the same order.
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
    engine : {None, "dask"}
        Where batches are summed: here, or on the workers of the active ``dask.distributed``
        client. A dask collection is summed on its workers in any case.

    Notes
    -----
    Every column that is used must hold finite numbers, the target too unless it names classes.
    ``table.n_passes`` counts how often the source was read. Sums are added in the order of the
    pieces (files, partitions), so they are the same, bit for bit, wherever they are taken.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> from pacsklearn import PACPrivate
    from pacsklearn_bigdata import Table
    >>> rows = np.random.default_rng(0).normal(size=(2000, 3))
    >>> table = Table(lambda: iter(np.array_split(rows, 4)))
    >>> PACPrivate(PCA(n_components=2)).fit(table).transform(rows[:5]).shape
    (5, 2)
    >>> table.n_passes
    1
    """

    def __init__(
        self,
        source: Any,
        *,
        target: str | int | None = None,
        unit: str | int | None = None,
        features: Sequence[str | int] | None = None,
        classes: Sequence[Any] | None = None,
        batch_rows: int = 65536,
        engine: str | None = None,
    ) -> None:
        check_integer(name="batch_rows", value=batch_rows, minimum=1)
        self._reader = TableReader(source_of(source), target, unit, features, batch_rows)
        self._engine: Engine = engine_of(engine, self._reader.source)
        self.classes = None if classes is None else np.asarray(classes)
        self.n_passes = 0
        self._stream: Any = None
        self._profile: TableProfile | None = None
        self._columns: Any = None
        self._trace: NDArray[np.uint64] | None = None

    @property
    def has_target(self) -> bool:
        """Whether a column is predicted."""
        return self._reader.target is not None

    @property
    def unit(self) -> str:
        """Unit of privacy: ``"row"`` or ``"group"``."""
        return "row" if self._reader.unit is None else "group"

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features; None where the source has none."""
        return self._reader.feature_names

    @property
    def profile(self) -> TableProfile:
        """Sizes and a sample of rows; from the first pass, whatever it was for."""
        if self._profile is None:
            self.total(None)
        assert self._profile is not None
        return self._profile

    @property
    def sample_rows(self) -> Any:
        """Rows of the profile's sample, which the table is recognised by."""
        return self.profile.sample.rows

    def named(self, rows: Any) -> Any:
        """Return rows under the names of the features, where the source has any."""
        if self.feature_names is None:
            return rows
        import pandas as pd  # whoever has named columns has it; arrays need it not

        return pd.DataFrame(rows, columns=list(self.feature_names))

    def show(self, stream: Any) -> None:
        """Write how far each pass is, with rows a second, to a stream; None stops that.

        It has to be the stream itself, because what is printed while candidates are fitted is
        withheld. Numbers of rows are all that is written.
        """
        self._stream = stream

    def total(
        self, work: Work | None, join: np.ufunc = np.add, *, only_units: bool = False
    ) -> list[Any]:
        """Return the sums, array by array, of the results of ``work`` on all batches: one pass.

        Or what another function of two arrays makes of them, in the order of the pieces. With
        ``only_units`` batches have neither features nor target, which a source need not read.

        Raises
        ------
        TableError
            When the source cannot be read, has no rows, or is not what it was in another pass.
        """
        known = self.profile if only_units else self._profile
        self.n_passes += 1
        totals: list[Any] | None = None
        pieces: list[ProfilePiece] = []
        n_rows, trace = 0, np.zeros(N_TRACES, dtype=np.uint64)
        reader = replace(self._reader, only_units=only_units)
        task = partial(_joined, reader, work, join, known is None)
        size = None if known is None else known.n_rows
        with pass_progress(self.n_passes, size, self._stream) as reached:
            n_parts = self._reader.source.n_parts
            results = self._engine(task, n_parts, lambda more: reached(more, True))
            for sums, piece, rows, columns, seen in results:
                n_rows += rows
                trace += seen
                reached(n_rows, False)
                if rows and not only_units:
                    self._columns = _same(self._columns, columns)
                if piece is not None:
                    pieces.append(piece)
                    ProfilePiece.thin(pieces)
                totals = _added(join, totals, sums)
        if known is not None and known.n_rows != n_rows:
            raise TableError(
                f"The source has {n_rows} rows in this pass and had {known.n_rows} in "
                "another one; it must give the same rows in the same order each time."
            )
        if not n_rows or totals is None:
            raise TableError("The table has no rows.")
        # Sums of several passes belong together only if all of them saw the same rows.
        compared = slice(1 if only_units else None)  # neither features nor targets were read
        if self._trace is not None and not np.array_equal(self._trace[compared], trace[compared]):
            raise TableError(
                "The source gives other rows in this pass than in another one, or in another "
                "order; which candidates a row is in must be the same each time."
            )
        if not only_units:
            self._trace = trace
        if known is None:
            self._profile = TableProfile.of(pieces, self.unit)
        return totals

    def __repr__(self) -> str:
        size = "" if self._profile is None else f", n_rows={self._profile.n_rows}"
        return f"Table({type(self._reader.source).__name__}{size})"


def _joined(
    reader: TableReader,
    work: Work | None,
    join: np.ufunc,
    profiled: bool,
    part: int,
    saw: Callable[[int], None] | None = None,
) -> tuple[list[Any] | None, ProfilePiece | None, int, Any, NDArray[np.uint64]]:
    """Return a piece's sums, its part of the profile, its rows, columns and trace."""
    totals: list[Any] | None = None
    piece, columns = None, None
    if profiled:
        piece = ProfilePiece(grouped=reader.unit is not None, n_parts=reader.source.n_parts)
    n_rows, trace = 0, np.zeros(N_TRACES, dtype=np.uint64)
    for batch in reader.batches(part):
        columns = _same(columns, batch.columns)
        n_rows += len(batch.rows)
        trace += batch.trace()
        if piece is not None:
            piece.see(batch)
        totals = _added(join, totals, [] if work is None else work(batch))
        if saw is not None:
            saw(len(batch.rows))
    return totals, piece, n_rows, columns, trace


def _same(known: Any, columns: Any) -> Any:
    """Return the columns of a batch, refused where they are not those of the batches before."""
    if known is None or known == columns:
        return columns
    if known[0] != columns[0]:
        had, has = (
            f"{one} columns" if isinstance(one, int) else ", ".join(map(repr, one))
            for one in (known[0], columns[0])
        )
        raise TableError(
            f"A batch has other columns than those before: {has}, not {had}. All must have the "
            "same, in the same order."
        )
    role = "unit" if known[1] != columns[1] else "target"
    raise TableError(f"{role} holds numbers in one batch and texts in another; make them one kind.")


def _added(
    join: np.ufunc, totals: list[Any] | None, arrays: Sequence[Any] | None
) -> list[Any] | None:
    if totals is None or arrays is None:
        return totals if arrays is None else [np.array(array) for array in arrays]
    for total, array in zip(totals, arrays, strict=True):
        join(total, array, out=total)
    return totals


@contextmanager
def pass_progress(
    number: int, n_rows: int | None, stream: Any
) -> Iterator[Callable[[int, bool], None]]:
    """Draw a bar with rows a second, and the time left once the table's size is known.

    Parameters
    ----------
    number : int
        Of the pass.
    n_rows : int or None
        Of the table; None in the first pass.
    stream : file or None
        Where it is written; nowhere when None.

    Yields
    ------
    callable
        To be told how many rows were read so far, or how many more.
    """
    if stream is None:
        yield lambda *_: None
        return
    from rich.console import Console  # only a user who asks for it needs it
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    seen, begun = 0, time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    # Fits redirect the streams for themselves.
    how: Any = {"redirect_stdout": False, "redirect_stderr": False}
    with Progress(*columns, console=Console(file=stream), **how) as progress:
        task = progress.add_task(f"pass {number}", total=n_rows)

        def reached(n_rows: int, more: bool) -> None:
            nonlocal seen
            seen = n_rows + seen * more
            rate = seen / max(time.monotonic() - begun, 1e-9)
            text = f"pass {number}: {seen:,} rows, {rate:,.0f} rows a second"
            progress.update(task, completed=seen, description=text)

        yield reached
        progress.update(task, total=seen)  # of a first pass the size is known now
