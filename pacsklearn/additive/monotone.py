"""Terms that may only rise, or only fall: an exact fit, and a repair after noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import lsq_linear
from sklearn.isotonic import isotonic_regression

from pacsklearn.additive.solver import Problem
from pacsklearn.additive.terms import Term
from pacsklearn.information.arrays import Floats

Range = tuple[int, int, int]

_MOST_STEPS = 60
_SMALLEST_STEP = 1e-8


def monotone_ranges(
    terms: Sequence[Term], directions: Mapping[str, int] | None
) -> tuple[Range, ...]:
    """First level, end and direction (1 or -1) of each constrained term; the intercept is 0.

    Raises
    ------
    ValueError
        When a name is no ordered column of the model, or a direction is neither 1 nor -1.
    """
    ranges, start, wanted = [], 1, dict(directions or {})
    for term in terms:
        direction = wanted.pop(term.name, None) if term.n_ordered else None
        if direction is not None:
            if direction not in (1, -1):
                raise ValueError(
                    f"monotone must be 1 (rising) or -1 (falling), got {direction!r} for "
                    f"{term.name!r}."
                )
            ranges.append((start, start + term.n_ordered, int(direction)))
        start += term.n_levels
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
    shares, u = problem.weights[:, None, :], np.zeros(d)
    for _ in range(_MOST_STEPS):
        w = basis @ u
        slope, state = problem.loss.slope(problem.scores(w[:, None, None]))
        gradient = basis.T @ _flat(
            problem.collect(shares * slope) + problem.penalise(w[:, None, None])
        )
        bend = np.ones(shares.shape[0]) if state is None else state[:, 0, 0]
        weighted = problem.design.multiply((shares[:, 0, 0] * bend)[:, None]).tocsr()
        hessian = basis.T @ ((problem.design.T @ weighted).toarray() + problem.penalty) @ basis
        root = cholesky(hessian, lower=True)
        aim = root.T @ u - solve_triangular(root, gradient, lower=True)
        best = lsq_linear(root.T, aim, bounds=(low, np.inf), method="bvls", tol=1e-14).x
        step = best - u
        length, value = 1.0, _value(problem, w)
        while _value(problem, basis @ (u + length * step)) > value + 1e-12 * abs(value):
            # A full Newton step may overshoot where the loss is far from quadratic.
            length /= 2
            if length < 1e-9:
                return w, False
        u = u + length * step
        if np.abs(basis @ step).max() <= _SMALLEST_STEP * max(np.abs(w).max(), 1e-300):
            return basis @ u, True
    return basis @ u, False


def repaired(levels: Floats, ranges: Sequence[Range]) -> Floats:
    """Nearest weights that keep the constraints, a public function of noisy ones; (k, levels)."""
    repaired_levels = levels.copy()
    for start, stop, direction in ranges:
        for row in repaired_levels:
            row[start - 1 : stop - 1] = isotonic_regression(
                row[start - 1 : stop - 1], increasing=direction > 0
            )
    return repaired_levels


def _value(problem: Problem, w: Floats) -> float:
    scores = problem.scores(w[:, None, None])
    data = np.sum(problem.weights * problem.loss.value(scores))
    return float(data + w @ problem.penalty @ w / 2)


def _flat(values: Any) -> Floats:
    return np.asarray(values).reshape(-1)
