"""Rows as small whole numbers: the public map that says which of them are alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacsklearn.universe.some_rows import some_rows

Codes = NDArray[np.int8]

# Steps to one spread, and most steps from the centre: a quarter of a spread, four spreads.
STEPS = 4
_FAR = 4 * STEPS
_CELLS = 2**22
# Rows that centres and spreads are taken over.
_SOME = 2**13
_PART = 2**14
# Columns that a sparse table is summed into.
_SKETCH = 64
# A category is a column of its own where at least one row in so many has it.
_COMMON = 64


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
        From -16 to 16. Columns without a spread are left out. Words are a column for each common
        category, so rows of free text are all equal; a gap is 0, with a column of its own.

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
    words = [str(value) for value in column.tolist()]
    common = [word for word, held in Counter(words).items() if held * _COMMON >= n_rows]
    numbers = {word: number for number, word in enumerate(common)}
    codes = np.array([numbers.get(word, -1) for word in words])
    return np.asarray(codes[:, None] == np.arange(len(common)), dtype=np.float64)


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
    varies &= spread > 0
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
