"""Terms of an additive model: public levels of one column, or of a pair of columns.

Of those that may only rise, or only fall: an exact fit, and a repair after noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import lsq_linear
from sklearn.isotonic import isotonic_regression

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.tabular.additive.solver import Problem
from pacsklearn.tabular.schema.column import Column

Codes = NDArray[np.intp]


@final
@dataclass(frozen=True)
class Term:
    """Levels of a column, of which every row has exactly one.

    Parameters
    ----------
    columns : tuple of Column
        One, or two for a pair.
    n_bins : int
        Bins of a number without edges of its own.
    """

    columns: tuple[Column, ...]
    n_bins: int

    @property
    def name(self) -> str:
        """Name of the column, or of both."""
        return " x ".join(column.name for column in self.columns)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Levels of each column; the last one of a column stands for missing values."""
        return tuple(column.n_cells(self.n_bins) + 1 for column in self.columns)

    @property
    def n_levels(self) -> int:
        """Levels of the term."""
        return int(np.prod(self.sizes))

    @property
    def n_ordered(self) -> int:
        """How many levels, from the first on, have an order; 0 where none have."""
        (column, *others) = self.columns
        ordered = column.kind in ("number", "date") or column.ordered
        return self.sizes[0] - 1 if ordered and not others else 0

    @property
    def labels(self) -> list[str]:
        """Name of each level."""
        parts = [_labels(column, self.n_bins) for column in self.columns]
        labels = parts[0]
        for part in parts[1:]:
            labels = [f"{left}, {right}" for left in labels for right in part]
        return labels

    def codes(self, columns: Sequence[Any]) -> Codes:
        """Return the level of each row, from the values of the term's columns."""
        # One level for what is missing and what is outside: to tell them apart would cost noise.
        indices = []
        for column, values, size in zip(self.columns, columns, self.sizes, strict=True):
            cells = column.cells(values, self.n_bins)
            indices.append(np.where(cells < 0, size - 1, cells))
        return np.asarray(np.ravel_multi_index(indices, self.sizes), dtype=np.intp)


def of_amounts(column: Column, n_bins: int) -> Column:
    """Return the column with bins narrow near zero, where it is a number from zero on."""
    if not starts_at_zero(column):
        return column
    # Amounts are mostly small: bounds are cubes of even shares of the public range.
    edges = column.high * (np.arange(1, n_bins) / n_bins) ** 3
    return replace(column, edges=tuple(edges.tolist()))


def starts_at_zero(column: Column) -> bool:
    """Return whether a number's public range begins at zero, and nothing else states its bins."""
    stated = column.scale != "linear" or column.edges or column.high is None
    return column.kind == "number" and column.low == 0 and not stated


def terms_of(
    columns: Iterable[Column],
    pairs: Iterable[Any],
    n_bins: int,
    n_pair_bins: int,
    bins: str = "even",
) -> tuple[Term, ...]:
    """Return a term for each column that is used, then one for each pair."""
    used = {column.name: column for column in columns if column.kind not in ("ignored", "text")}
    binned = of_amounts if bins == "amounts" else lambda column, _: column
    singles = [Term((binned(column, n_bins),), n_bins) for column in used.values()]
    crossed = []
    if not isinstance(pairs, Iterable):
        raise TypeError(f"pairs must be a list of pairs of columns, got {type(pairs).__name__}.")
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2 or len(set(pair)) != 2 or not {*pair} <= {*used}:
            raise ValueError(
                f"pairs must hold pairs of two columns that the model uses, got {pair!r}; it uses "
                f"{', '.join(used)}."
            )
        both = tuple(binned(used[name], n_pair_bins) for name in pair)
        crossed.append(Term(both, n_pair_bins))
    if not singles:
        raise ValueError(
            "X has no column that the model can use: text and ignored columns have no levels. "
            "Describe at least one number, date or category in the schema."
        )
    return (*singles, *crossed)


def placed(terms: Iterable[Term], first: int = 0) -> Iterator[tuple[Term, slice]]:
    """Yield each term with the place of its levels among those of all, from ``first`` on."""
    for term in terms:
        yield term, slice(first, first + term.n_levels)
        first += term.n_levels


def design_of(codes: Sequence[Codes], sizes: Sequence[int]) -> sparse.csr_matrix:
    """Return ones where a row has a level, with a first column of ones; (n_rows, 1 + levels)."""
    n_rows, starts = codes[0].size, 1 + np.concatenate([[0], np.cumsum(sizes)[:-1]])
    columns = np.empty((n_rows, len(codes) + 1), dtype=np.int32)
    columns[:, 0] = 0
    for place, (code, start) in enumerate(zip(codes, starts, strict=True), start=1):
        columns[:, place] = code + start
    ends = np.arange(0, columns.size + 1, columns.shape[1], dtype=np.int32)
    shape = (n_rows, 1 + int(sum(sizes)))
    return sparse.csr_matrix((np.ones(columns.size), columns.ravel(), ends), shape=shape)


def _labels(column: Column, n_bins: int) -> list[str]:
    if column.kind in ("number", "date"):
        inner = [f"{cut:g}" for cut in column.cuts(n_bins)]
        ends = zip(["..", *inner], [*inner, ".."], strict=True)
        return [*(f"[{low},{high})" for low, high in ends), "missing"]
    return [*map(str, column.categories), "other or missing"]


Range = tuple[int, int, int]

_MOST_STEPS = 60
_SMALLEST_STEP = 1e-8


def monotone_ranges(
    terms: Sequence[Term], directions: Mapping[str, int] | None
) -> tuple[Range, ...]:
    """Return first level, end and direction (1 or -1) of each constrained term; the intercept is 0.

    Raises
    ------
    ValueError
        When a name is no ordered column of the model, or a direction is neither 1 nor -1.
    """
    ranges, wanted = [], dict(directions or {})
    for term, own in placed(terms, 1):
        direction = wanted.pop(term.name, None) if term.n_ordered else None
        if direction is not None:
            if direction not in (1, -1):
                raise ValueError(
                    f"monotone must be 1 (rising) or -1 (falling), got {direction!r} for "
                    f"{term.name!r}."
                )
            ranges.append((own.start, own.start + term.n_ordered, int(direction)))
    if wanted:
        raise ValueError(
            f"monotone: the model has no ordered column {next(iter(wanted))!r}; only numbers, "
            "dates and ordered categories can be constrained."
        )
    return tuple(ranges)


def minimise_monotone(problem: Problem, ranges: Sequence[Range]) -> tuple[Floats, bool]:
    """Minimise one model's problem with one score under the constraints; weights and success.

    Notes
    -----
    Newton's method in the increments between neighbouring levels, which must not be negative; each
    step solves its bounded quadratic problem exactly (Stark and Parker's active sets).
    """
    d = problem.penalty.shape[0]
    basis, low = np.eye(d), np.full(d, -np.inf)
    for start, stop, direction in ranges:
        basis[start:stop, start:stop] = np.tril(np.ones((stop - start, stop - start)))
        basis[:, start + 1 : stop] *= direction
        low[start + 1 : stop] = 0.0
    u = np.zeros(d)
    for _ in range(_MOST_STEPS):
        w = basis @ u
        value, gradient, bends = _terms(problem, w)
        weighted = problem.design.multiply(problem.weights * np.concatenate(bends)[:, 0]).tocsr()
        hessian = basis.T @ ((problem.design.T @ weighted).toarray() + problem.penalty) @ basis
        root = cholesky(hessian, lower=True)
        aim = root.T @ u - solve_triangular(root, basis.T @ gradient, lower=True)
        best = lsq_linear(root.T, aim, bounds=(low, np.inf), method="bvls", tol=1e-14).x
        step = best - u
        length = 1.0
        while _terms(problem, basis @ (u + length * step))[0] > value + 1e-12 * abs(value):
            # A full Newton step may overshoot where the loss is far from quadratic.
            length /= 2
            if length < 1e-9:
                return w, False
        u = u + length * step
        if np.abs(basis @ step).max() <= _SMALLEST_STEP * max(np.abs(w).max(), 1e-300):
            return basis @ u, True
    return basis @ u, False


def repaired(levels: Floats, ranges: Sequence[Range]) -> Floats:
    """Return the nearest weights that keep the constraints; shape (k, levels)."""
    repaired_levels = levels.copy()
    for start, stop, direction in ranges:
        for row in repaired_levels:
            row[start - 1 : stop - 1] = isotonic_regression(
                row[start - 1 : stop - 1], increasing=direction > 0
            )
    return repaired_levels


def _terms(problem: Problem, w: Floats) -> tuple[float, Floats, list[Floats]]:
    """Return objective, gradient and what the loss bends by, of one model with one score."""
    value, gradient, bends = problem.terms(w[:, None, None])
    return float(value[0]), gradient[:, 0, 0], bends
