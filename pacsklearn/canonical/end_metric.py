"""What a change of any step of a pipeline does to the outputs of its last one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.canonical.affine import FoldingCanonicalizer
from pacsklearn.canonical.linear import SCALE_WEIGHT
from pacsklearn.canonical.power_transformer import PowerTransformerCanonicalizer
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.universe.metrics import MatrixMetric

_MOST_ENTRIES = 2**18  # rows times numbers tried, a side of the Jacobian of one output
_MOST_ROWS = 4096
# Beyond these, trying out every number or a matrix over all of them costs more than it gains.
_MOST_TRIED = 512
_MOST_NUMBERS = 1536
# One of no cost would not be noised; the noise of what costs this share of the mean is at most
# so much larger that new rows are still mapped to what they are.
_FLOOR = 0.003
# Powers of noisy exponents overflow; their own metric keeps them on the rows they were fitted on.
_UNBOUNDED = (PowerTransformerCanonicalizer,)


def end_metric(walked: Sequence[Any], layout: Layout, X: Any, vectors: Floats) -> Metric | None:
    """Return the mean squared change of a linear model's outputs, in all steps' numbers at once.

    To first order around one candidate. None for other models (probabilities near zero and one
    say nothing to first order), behind a power transformer, and where there are too many numbers.

    Parameters
    ----------
    walked : sequence of (name, Canonicalizer, fitted, rows)
        The released steps of one candidate's pipeline as they follow one another.
    layout : Layout
    X : array of shape (n, p)
        The universe.
    vectors : ndarray of shape (m, d)
        Of all candidates; each number before the model is tried out by as much as they differ.

    Notes
    -----
    Noise is cheap where it moves no output: in a shift that the intercept takes back, in a feature
    of little weight. Numbers that change no output on these rows cost a share of what their own
    step's metric says, so that they are noised as well and the step stays what it is; and what
    stands for a missing value counts as if it were missing in one row of a hundred, so that rows
    to come are safe.
    """
    *before, (_, last, _, _) = walked
    child, spread = layout.children[-1][1], vectors.std(axis=0)
    n_tried = layout.size - child.size
    # Only these are linear in what the step before hands on.
    linear = None
    if isinstance(last, FoldingCanonicalizer) and last.folds and last.is_linear:
        linear = _Linear.of(child, vectors[0, n_tried:])
    if any(isinstance(canonicalizer, _UNBOUNDED) for _, canonicalizer, *_ in before):
        return None
    if linear is None or not 0 < n_tried <= _MOST_TRIED or layout.size > _MOST_NUMBERS:
        return None
    n_rows = min(_MOST_ROWS, _MOST_ENTRIES // n_tried)
    chosen = np.unique(np.linspace(0, X.shape[0] - 1, n_rows).astype(np.int64))
    rows, share = rows_with_gaps(before[0].fitted, safe_indexing(X, chosen))
    root = np.sqrt(share)[:, None]
    tried = _changes(before, layout, linear, rows, vectors[0], spread) * root
    flat = tried.reshape(-1, n_tried)
    gram = np.zeros((layout.size, layout.size))
    gram[:n_tried, :n_tried] = flat.T @ flat + _floor(flat, before, layout, vectors, spread)
    units = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 0.0)
    seen = np.column_stack([_through(before, rows), np.ones(share.size)])
    size = np.sqrt(share @ seen**2)
    seen = seen / np.where(size > 0, size, 1.0) * root
    own = seen.T @ seen
    for changes, offset in zip(tried, linear.offsets, strict=True):
        where = slice(n_tried + offset, n_tried + offset + size.size)
        gram[where, where], units[where] = own, size
        gram[:n_tried, where] = changes.T @ seen
        gram[where, :n_tried] = gram[:n_tried, where].T
    scales = n_tried + np.array(linear.scales, dtype=np.int64)
    gram[scales, scales], units[scales] = SCALE_WEIGHT * len(linear.offsets), 1.0
    return MatrixMetric(gram, units)


def _floor(
    flat: Floats, before: Sequence[Any], layout: Layout, vectors: Floats, spread: Floats
) -> Floats:
    """Return a share of the mean cost of a number, told apart by the steps' own metrics."""
    n_tried, where = flat.shape[1], layout.slices()
    floor = np.zeros((n_tried, n_tried))
    for name, canonicalizer, fitted, rows in before:
        at = where[name]
        metric = canonicalizer.metric(dict(layout.children)[name], fitted, rows, vectors[:, at])
        root = metric.root(np.diag(spread[at]))
        total = float(np.sum(root**2))
        if total > 0:
            floor[at, at] = root @ root.T * ((at.stop - at.start) / total)
    return floor * (_FLOOR * float(np.sum(flat**2)) / n_tried)


class _Linear(NamedTuple):
    """Outputs of a model that is nothing but weights, or of several side by side.

    Attributes
    ----------
    weights : ndarray of shape (outputs, p + 1)
    offsets, scales : tuple of int
        Where each output's weights begin in the vector, and where scales stand.
    """

    weights: Floats
    offsets: tuple[int, ...]
    scales: tuple[int, ...]

    @classmethod
    def of(cls, layout: Layout, vector: Floats) -> _Linear | None:
        weights: list[Floats] = []
        offsets: list[int] = []
        scales: list[int] = []

        def is_read(part: Layout, start: int) -> bool:
            for name, shape in part.blocks:
                length = int(np.prod(shape))
                if name == "weights" and len(shape) == 2:
                    weights.extend(vector[start : start + length].reshape(shape))
                    offsets.extend(range(start, start + length, shape[1]))
                elif name == "log_scale":
                    scales.append(start)
                else:
                    return False
                start += length
            for _, child in part.children:
                if not is_read(child, start):
                    return False
                start += child.size
            return True

        if not is_read(layout, 0) or len({each.size for each in weights}) != 1:
            return None
        return cls(np.stack(weights), tuple(offsets), tuple(scales))

    def scores(self, rows: Any) -> Floats:
        return np.asarray(rows @ self.weights[:, :-1].T + self.weights[:, -1])


def _changes(
    before: Sequence[Any],
    layout: Layout,
    linear: _Linear,
    rows: Any,
    vector: Floats,
    spread: Floats,
) -> Floats:
    """Return half the difference that each number makes; shape (outputs, rows, numbers)."""
    changes: list[Floats] = []
    where, children = layout.slices(), dict(layout.children)

    def scores(place: int, moved: Floats, rows: Any) -> Floats:
        name, canonicalizer, fitted, _ = before[place]
        decoded = canonicalizer.decode(moved, children[name], clone(fitted))
        return linear.scores(_through(before[place + 1 :], decoded.transform(_copied(rows))))

    for place, (name, _, fitted, _) in enumerate(before):
        own, widths = vector[where[name]], spread[where[name]]
        for i, width in enumerate(widths):
            step = np.zeros(own.size)
            step[i] = width
            change = np.zeros((rows.shape[0], len(linear.offsets)))
            if width:
                change = (scores(place, own + step, rows) - scores(place, own - step, rows)) / 2
            changes.append(change)
        rows = fitted.transform(_copied(rows))
    return np.stack(changes, axis=2).swapaxes(0, 1)


def _through(steps: Sequence[Any], rows: Any) -> Floats:
    for _, _, fitted, _ in steps:
        rows = fitted.transform(_copied(rows))
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)


def _copied(rows: Any) -> Any:
    """Return the rows, copied where a transformer would write into them."""
    return rows.clone() if hasattr(rows, "clone") else rows.copy()


_SHARE = 0.01
_ROWS_EACH = 4


def rows_with_gaps(step: Any, rows: Any) -> tuple[Any, Floats]:
    """Return the rows, with some more for each column that a fitted transformer imputes.

    Parameters
    ----------
    step : transformer
        Fitted; an imputer of numbers, or something that hands columns to some.
    rows : ndarray or DataFrame of shape (n, p)

    Returns
    -------
    rows : same type, of shape (n + 4 k, p)
        For k imputed columns; four rows in which each of them is missing.
    share : ndarray of shape (n + 4 k,)
        What each row counts: one in all for the given, one hundredth for each imputed column.
    """
    n = rows.shape[0]
    columns = sorted(set(_imputed(step, _positions(rows))))
    share = np.concatenate(
        [np.full(n, 1 / n), np.full(_ROWS_EACH * len(columns), _SHARE / _ROWS_EACH)]
    )
    if not columns:
        return rows, share
    every = np.concatenate([np.arange(n), np.arange(_ROWS_EACH * len(columns)) % n])
    wider = safe_indexing(rows, every)
    for k, (column, missing) in enumerate(columns):
        where = slice(n + k * _ROWS_EACH, n + (k + 1) * _ROWS_EACH)
        wider = _without(wider, where, column, missing)
    return wider, share


def _imputed(step: Any, positions: Any) -> list[tuple[int, float]]:
    """Return the columns that imputers of numbers see first, and what is missing there."""
    if type(step) is SimpleImputer:
        if step.strategy not in ("mean", "median"):
            return []
        return [(int(column), step.missing_values) for column in np.asarray(positions).ravel()]
    if type(step) is Pipeline:
        first = next((part for _, part in step.steps if part not in (None, "passthrough")), None)
        return _imputed(first, positions)
    if type(step) is FeatureUnion:
        return [gap for _, part in step.transformer_list for gap in _imputed(part, positions)]
    if type(step) is ColumnTransformer:
        return [
            gap
            for _, part, columns in step.transformers_
            if not isinstance(part, str) and np.size(columns)
            for gap in _imputed(part, safe_indexing(positions, columns, axis=1))
        ]
    return []


def _positions(rows: Any) -> Any:
    """Return one row that says of each column where it stands, in the type of ``rows``."""
    if hasattr(rows, "columns"):
        return type(rows)({name: [place] for place, name in enumerate(rows.columns)})
    return np.arange(rows.shape[1])[None, :]


def _without(rows: Any, where: slice, column: int, missing: float) -> Any:
    """Return the same with one column missing in some rows."""
    if not hasattr(rows, "columns"):
        rows = rows if rows.dtype.kind in "fO" else rows.astype(np.float64)
        rows[where, column] = missing
        return rows
    given = rows.iloc[:, column] if hasattr(rows, "iloc") else rows[:, column]
    # A nullable boolean of pandas is an object where it has gaps, and its NA no imputer knows.
    is_boolean = getattr(given.dtype, "kind", None) == "b"
    values = np.array(given.astype(np.float64) if is_boolean else given)
    values = values if values.dtype.kind == "O" else values.astype(np.float64)
    values[where] = missing
    name = rows.columns[column]
    if hasattr(rows, "with_columns"):
        return rows.with_columns(type(rows)({name: values})[name])
    return rows.assign(**{name: values})
