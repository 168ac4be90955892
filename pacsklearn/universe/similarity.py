"""Which units are alike, by a public map of rows, and what candidates have in equal shares."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from numbers import Real
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacsklearn.universe.frame import is_missing
from pacsklearn.universe.some_rows import some_rows

Codes = NDArray[np.int8]

# Steps to one spread, and most steps from the centre: a quarter of a spread, four spreads.
STEPS = 4
_FAR = 4 * STEPS
_CELLS = 2**22
# Rows that centres, spreads and covariances are taken over, in parts of so many; of fewer where
# there are more columns.
_SOME = 2**13
_PART = 2**14
_WIDE = 512
# Columns that a sparse table is summed into.
_SKETCH = 64
# A category is a column of its own where at least one row in so many has it.
_COMMON = 64
# Principal directions that blocks are cut along, and those whose moments are balanced.
_PLACES = 4
_MOMENTS = 64
_TARGETS = 4
# A difference in the target counts twice.
_TARGET_WEIGHT = 2


def row_encoding(X: Any, n_rows: int) -> Codes:
    """Encode a table's rows on a grid of a quarter of each column's spread.

    Parameters
    ----------
    X : array-like
        Numbers, words or both; an array, a sparse matrix or a table of pandas.
    n_rows : int

    Returns
    -------
    ndarray of int8, shape (n_rows, n_codes)
        From -16 to 16. Columns without a spread are left out. Dates and times are numbers; other
        words are a column for each common category, so rows of free text are all equal. A gap is
        0, with a column of its own.

    Notes
    -----
    Centre and spread are those of each column between its percentiles 1 and 99. Nothing here is
    fitted to a target, and no estimator is asked: similarity must not foresee a model.
    """
    parts = [_on_grid(numbers) for numbers in _numbers(X, n_rows)]
    return np.hstack(parts) if parts else np.zeros((n_rows, 0), dtype=np.int8)


def _numbers(X: Any, n_rows: int) -> Iterator[NDArray[np.float64]]:
    """Yield a table's columns as numbers, some at a time."""
    if sparse.issparse(X):
        generator = np.random.default_rng(0)
        place = np.arange(X.shape[1]), generator.integers(_SKETCH, size=X.shape[1])
        signs = generator.choice([-1.0, 1.0], X.shape[1])
        sketch = sparse.csr_array((signs, place), shape=(X.shape[1], _SKETCH))
        yield (sparse.csr_array(X) @ sketch).toarray()
        return
    if hasattr(X, "iloc"):
        columns = [X.iloc[:, i] for i in range(X.shape[1])] if X.ndim == 2 else [X]
        for column in columns:
            yield _of_column(column, n_rows)
        return
    table = np.asarray(X).reshape(n_rows, -1)
    if table.dtype.kind not in "biuf":
        for i in range(table.shape[1]):
            yield _of_column(table[:, i], n_rows)
        return
    step = max(1, _CELLS // n_rows)
    for start in range(0, table.shape[1], step):
        yield table[:, start : start + step].astype(np.float64)


def _of_column(column: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the numbers of one column; of words, which common category each is."""
    if getattr(column.dtype, "kind", "O") in "biuf":
        if hasattr(column, "iloc"):  # pandas has gaps of its own
            column = column.to_numpy(np.float64, na_value=np.nan)
        return np.asarray(column, dtype=np.float64).reshape(-1, 1)
    cells, is_object = column.tolist(), column.dtype == object
    with suppress(OverflowError, ValueError):  # one cell that is neither makes all of them words
        read = [math.nan if is_missing(cell) else _number(cell, is_object) for cell in cells]
        return np.array(read)[:, None]
    words = [str(value) for value in cells]
    common = [word for word, held in Counter(words).items() if held * _COMMON >= n_rows]
    numbers = {word: number for number, word in enumerate(common)}
    codes = np.array([numbers.get(word, -1) for word in words])
    return np.asarray(codes[:, None] == np.arange(len(common)), dtype=np.float64)


def _number(cell: Any, is_object: bool) -> float:
    """Return a number, or the seconds since 1970 of a date, a time or a text of one.

    Numbers are read in columns of objects only: among categories they are names. A zone is left
    out, so that times are read by their own clock.
    """
    if is_object and isinstance(cell, (Real, Decimal)):
        return float(cell)
    return datetime.fromisoformat(str(cell)).replace(tzinfo=UTC).timestamp()


def _on_grid(numbers: NDArray[np.float64]) -> Codes:
    """Return whole steps from the centre of each column, and a column for each that has gaps."""
    gaps = np.isnan(numbers)
    gapped = gaps.any(axis=0)
    if gapped.any():
        numbers = np.hstack([np.where(gaps, 0.0, numbers), gaps[:, gapped]])
    chosen = some_rows(len(numbers), max(1, len(numbers) // _SOME))
    some = np.clip(numbers[chosen], -1e300, 1e300)
    low, high = np.quantile(some, [0.01, 0.99], axis=0)
    core = np.where(low < high, np.clip(some, low, high), some)
    # By their largest, so that no square leaves the range of doubles.
    least, most = core.min(axis=0), core.max(axis=0)
    varies, size = most > least, np.maximum(np.maximum(most, -least), 1e-300)
    core /= size
    centre, spread = core.mean(axis=0) * size, core.std(axis=0) * size
    # Of a smaller spread the factor below would be infinite.
    varies &= spread > STEPS * np.finfo(np.float64).tiny
    if not varies.all():
        numbers = numbers[:, varies]
    centre, factor = centre[varies], STEPS / spread[varies]
    codes = np.empty(numbers.shape, dtype=np.int8)
    for start in range(0, len(numbers), _PART):
        part = slice(start, start + _PART)
        steps = numbers[part] - centre
        steps *= factor
        codes[part] = np.clip(np.rint(steps, out=steps), -_FAR, _FAR, out=steps)
    if gapped.any():
        own = np.flatnonzero(varies[: gaps.shape[1]])
        codes[:, : own.size][gaps[:, own]] = 0
    return codes


@final
@dataclass(frozen=True, eq=False)
class Similarity:
    """Units by a public map of their rows: cells of equals, places, moments.

    Parameters
    ----------
    cells : ndarray of uint64, shape (n_units,)
        Equal for units that are equal on the grid of :func:`row_encoding`.
    places : ndarray of int16, shape (n_units, n_directions)
        Along the principal directions, the widest first.
    moments : ndarray of float32, shape (n_units, n_moments), or None
        Small whole numbers, whose sums candidates shall have in equal shares; None where coins
        shall be fair.
    size : int, default=8
        Units of a block.

    Notes
    -----
    Everything is a function of the table's rows and targets and of public constants; no model is
    fitted. Balancing the gradients of a fitted one would tune every candidate towards the whole
    table's model.
    """

    cells: NDArray[np.uint64] = field(repr=False)
    places: NDArray[np.int16] = field(repr=False)
    moments: NDArray[np.float32] | None = field(default=None, repr=False)
    size: int = 8

    @classmethod
    def of(
        cls,
        X: Any,
        targets: Any = None,
        unit_of_row: NDArray[np.int64] | None = None,
        *,
        size: int = 8,
        balanced: bool = True,
    ) -> Self:
        """Return the similarity of rows, or of groups of them by their sums and sizes.

        Parameters
        ----------
        X : array-like
        targets : array-like, optional
            What rows are compared by as well; nothing where classes are strata.
        unit_of_row : ndarray of shape (n_rows,), optional
        size : int, default=8
        balanced : bool, default=True
            Whether there are moments.
        """
        n_rows = X.shape[0]
        codes = _of_units(row_encoding(X, n_rows), unit_of_row, counted=True)
        aims = np.zeros((len(codes), 0), dtype=np.int8)
        if targets is not None:
            aims = _of_units(row_encoding(targets, n_rows), unit_of_row, counted=False)
        both = np.hstack([codes, _TARGET_WEIGHT * aims])
        factors = np.random.default_rng(0).integers(
            2**64, size=both.shape[1], dtype=np.uint64
        ) | np.uint64(1)
        cells = np.zeros(len(both), dtype=np.uint64)
        for column, factor in zip(both.T, factors, strict=True):
            cells += column.astype(np.int64).view(np.uint64) * factor
        moments = _moments(codes, aims) if balanced else None
        return cls(cells, _principal(both, _PLACES)[0], moments, size)


def _of_units(codes: Codes, unit_of_row: NDArray[np.int64] | None, *, counted: bool) -> Codes:
    """Return codes of units: rows themselves, or sums over groups, with how many rows each has."""
    if unit_of_row is None:
        return codes
    sums = np.zeros((int(unit_of_row.max()) + 1, codes.shape[1]))
    np.add.at(sums, unit_of_row, codes)
    size = np.bincount(unit_of_row)[:, None]
    return row_encoding(np.hstack([sums, size]) if counted else sums, len(sums))


def _moments(codes: Codes, aims: Codes) -> NDArray[np.float32]:
    """Return the first and second moments of codes and targets, and products of both."""
    x, y = _leading(codes, _MOMENTS), _leading(aims, _TARGETS)
    both = np.hstack([x, y])
    n_first = both.shape[1]
    moments = np.empty((len(x), n_first * 2 + x.shape[1] * y.shape[1]), dtype=np.float32)
    moments[:, :n_first] = both
    second = moments[:, n_first:]
    np.multiply(both, both, out=second[:, :n_first])
    for number, target in enumerate(y.T, start=1):
        end = n_first + number * x.shape[1]
        np.multiply(x, target[:, None], out=second[:, end - x.shape[1] : end])
    # In units in which they weigh about as much as first moments, and all are small.
    second /= 2 * STEPS
    np.rint(second, out=second)
    return moments


def _leading(codes: Codes, most: int) -> NDArray[np.float32]:
    """Return columns, or as many principal directions of more of them, in the steps of the grid."""
    if codes.shape[1] <= most:
        return codes.astype(np.float32)
    places, spread = _principal(codes, most)
    centred = places - np.rint(places.mean(axis=0))
    steps = np.rint(centred / np.maximum(spread, 1.0))
    return np.asarray(np.clip(steps, -_FAR, _FAR), dtype=np.float32)


def _principal(codes: Codes, most: int) -> tuple[NDArray[np.int16], NDArray[np.float64]]:
    """Return whole-number coordinates along the widest directions, and a step's size in each."""
    n, d = codes.shape
    if d == 0:
        return np.zeros((n, 0), dtype=np.int16), np.zeros(0)
    step = max(1, n // (_SOME if d <= _WIDE else _WIDE))
    some = codes[some_rows(n, step)].astype(np.float64)
    some -= some.mean(axis=0)
    if d <= _WIDE:
        spread, directions = np.linalg.eigh(some.T @ some / len(some))
    else:
        spread, rows = np.linalg.eigh(some @ some.T / len(some))
        directions = some.T @ (rows / np.sqrt(np.maximum(spread * len(some), 1.0)))
    spread, directions = spread[::-1][:most], directions[:, ::-1][:, :most]
    # Whole numbers from here on, whose sums are the same on every processor.
    largest = np.abs(directions).argmax(axis=0)
    signs = np.where(directions[largest, np.arange(directions.shape[1])] < 0, -256.0, 256.0)
    whole = np.rint(directions * signs).astype(np.float32)
    places = np.empty((n, whole.shape[1]), dtype=np.int16)
    for start in range(0, n, _PART):
        part = slice(start, start + _PART)
        places[part] = np.rint(codes[part].astype(np.float32) @ whole / 64)
    return places, np.sqrt(np.maximum(spread, 0.0))
