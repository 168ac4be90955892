"""Lasso and elastic net of every subset, from its sums of products."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from scipy.linalg import solve_triangular
from sklearn import config_context
from sklearn.linear_model import lasso_path

from pacsklearn.joint.member_sums import double_rows
from pacsklearn.joint.moment_fitter import MomentFitter, well_conditioned
from pacsklearn.joint.moments import Moments
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.withheld import withheld

_TOLERANCE = 1e-11
_MOST_ITERATIONS = 5000
_ROUNDING = 1e-9
# Products of more features cost more than sweeps over rows, most of whose coefficients are zero.
_MOST_FEATURES = 128


@final
class ElasticNetFitter(MomentFitter):
    """scikit-learn's coordinate descent on the sums of products, then an exact solution.

    The signs that it finds give linear equations whose solution is the minimiser where it satisfies
    the optimality conditions.
    """

    name = "elastic_net"
    description = "coordinate descent on the sums of products of all subsets"
    estimators = (
        "sklearn.linear_model.Lasso",
        "sklearn.linear_model.ElasticNet",
    )
    wants_scatter = True
    wants_targets = True

    @staticmethod
    def suits(estimator: Any) -> bool:
        return not estimator.warm_start and estimator.alpha > 0 and estimator.l1_ratio > 0

    def pays(self, estimator: Any, n: int, p: int, n_classes: int) -> bool:
        return p < min(n, _MOST_FEATURES)

    def fit_moments(self, model: Any, moments: Moments) -> bool:
        p, n = moments.n_features, moments.n_rows
        products, mean = moments.scatter, moments.mean
        if mean.size != p + 1:
            return False
        if not model.fit_intercept:
            products, mean = products + n * np.outer(mean, mean), np.zeros_like(mean)
        lasso = n * model.alpha * model.l1_ratio
        ridge = n * model.alpha * (1 - model.l1_ratio)
        matrix, towards = products[:p, :p] + ridge * np.eye(p), products[:p, p].copy()
        # A constant column has products with none, and no coefficient.
        factored = well_conditioned(matrix + np.diag(np.diag(matrix) == 0), moments.loss)
        if factored is None:
            return False
        factor, units = factored
        solution = _descend(matrix, towards, lasso, factor.T * units, positive=model.positive)
        if solution is None:
            return False
        model.coef_, model.n_iter_ = solution
        intercept = mean[p] - mean[:p] @ model.coef_
        model.intercept_ = float(intercept) if model.fit_intercept else 0.0
        plain = products[:p, :p], towards, products[p, p]
        gap = _dual_gap(model.coef_, plain, lasso, ridge, positive=model.positive)
        model.dual_gap_ = gap / n
        return True

    def agrees(self, joint: Any, ordinary: Any, X: Any, y: Any) -> bool:
        """Return whether the ordinary fit is as good, up to its duality gap."""
        rows = double_rows(X)
        if rows is None:
            return False
        targets = np.asarray(y, dtype=np.float64)
        value, other = (_objective(model, rows, targets) for model in (joint, ordinary))
        size = targets - targets.mean() if ordinary.fit_intercept else targets
        allowed = ordinary.tol * float(size @ size) / len(rows)
        if np.max(ordinary.n_iter_) >= ordinary.max_iter:
            allowed = np.inf  # it may have stopped anywhere above the minimum
        return bool(-_ROUNDING * abs(other) <= other - value <= allowed + _ROUNDING * abs(other))


def _descend(
    matrix: Floats, towards: Floats, lasso: float, root: Floats, *, positive: bool
) -> tuple[Floats, int] | None:
    """Return minimiser of ``w' matrix w / 2 - towards w + lasso |w|_1``, and the sweeps over it.

    Of as few rows as features, ``root``, the products are the matrix.
    """
    # Lasso itself, asked for the same, checks for three times as long as it descends.
    with withheld(), config_context(assume_finite=True, skip_parameter_validation=True):
        _, path, _, (steps,) = lasso_path(
            np.asfortranarray(root),
            solve_triangular(root.T, towards, lower=True),
            alphas=[lasso / len(towards)],
            precompute=matrix,
            Xy=towards,
            check_input=False,
            positive=positive,
            tol=_TOLERANCE,
            max_iter=_MOST_ITERATIONS,
            return_n_iter=True,
        )
    signs = np.sign(path[:, 0])
    inside = signs != 0
    coef = np.zeros(len(towards))
    if inside.any():
        block = matrix[np.ix_(inside, inside)]
        coef[inside] = np.linalg.solve(block, towards[inside] - lasso * signs[inside])
    slopes = towards - matrix @ coef
    outside = slopes[~inside] if positive else np.abs(slopes[~inside])
    kept = np.all(np.sign(coef) == signs) and np.all(outside <= lasso * (1 + _ROUNDING))
    return (coef, steps) if kept and steps < _MOST_ITERATIONS else None


def _objective(model: Any, rows: Floats, targets: Floats) -> float:
    left = targets - rows @ model.coef_ - model.intercept_
    penalty = model.l1_ratio * np.abs(model.coef_).sum()
    penalty += (1 - model.l1_ratio) / 2 * float(model.coef_ @ model.coef_)
    return float(left @ left) / (2 * len(rows)) + model.alpha * float(penalty)


def _dual_gap(
    coef: Floats, plain: tuple[Floats, Floats, float], lasso: float, ridge: float, *, positive: bool
) -> float:
    """Return the duality gap at ``coef``, as scikit-learn states it.

    Zero up to rounding at the minimiser.
    """
    products, towards, square = plain
    slopes = towards - products @ coef - ridge * coef
    slope = float(np.max(slopes if positive else np.abs(slopes)))
    left = square - 2 * towards @ coef + coef @ products @ coef
    share = min(1.0, lasso / slope) if slope > 0 else 1.0
    gap = left * (1 + share**2) / 2 + lasso * np.abs(coef).sum()
    gap += ridge / 2 * (1 + share**2) * float(coef @ coef) - share * (square - towards @ coef)
    return float(gap)
