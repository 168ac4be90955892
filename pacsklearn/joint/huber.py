"""Huber regression of every subset: coefficients and scale, minimised together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._sklearn_compat import features_of
from pacsklearn.joint.exact_fitter import ExactFitter
from pacsklearn.joint.filled_models import filled_models
from pacsklearn.joint.joint_minimiser import Solution, minimise_from
from pacsklearn.joint.member_sums import Memberships, block_members, double_rows, member_sums
from pacsklearn.joint.newton import newton
from pacsklearn.joint.row_frame import RowFrame
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.secret.secret_space import SecretSpace

# Numbers whose products single precision holds.
_LARGEST = 1e15
_ROWS = 512
# With few rows a candidate's residuals all but vanish, and its scale with them; what then needs
# Hessians of more features is sooner fitted one by one.
_CHEAP_FEATURES, _LEAST_ROWS, _ROWS_A_FEATURE = 64, 4, 16
_START_STEPS = 30
# The ordinary solver stops where a step gains this share of the loss, or little more is to gain.
_EXCESS = 1e-5
_ROUNDING = 1e-9


@final
class HuberFitter(ExactFitter):
    """Minimises ``sum(s + s H((y - z) / s)) + alpha |w|^2`` over decisions ``z`` and the scale."""

    name = "huber"
    description = "quasi-Newton steps of all subsets by two matrix products each, scales among them"
    estimators = ("sklearn.linear_model.HuberRegressor",)

    @staticmethod
    def suits(estimator: Any) -> bool:
        return not estimator.warm_start and estimator.alpha > 0

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        rows, m = double_rows(X), space.n_subsets
        targets = np.asarray(y)
        if rows is None or not _pays(*rows.shape):
            return [None] * m
        if targets.ndim != 1 or targets.dtype.kind not in "iuf":
            return [None] * m
        targets = targets.astype(np.float64)
        usable = np.all(np.abs(rows) <= _LARGEST, axis=1) & (np.abs(targets) <= _LARGEST)
        spoilt = member_sums((~usable).astype(np.float64)[:, None], space)[:, 0] > 0
        if spoilt.any():
            rows, targets = np.where(usable[:, None], rows, 0.0), np.where(usable, targets, 0.0)
        frame = RowFrame.of(rows, targets, fit_intercept=estimator.fit_intercept)
        rows = rows - frame.shift  # what the intercept takes up
        problem = HuberProblem(estimator, rows, targets, space, frame.weights)
        solved = problem.minimise(np.flatnonzero(~spoilt))

        def fill(model: Any, i: int) -> None:
            own = solved.parameters[i, :, 0]
            model.coef_, model.scale_ = own[1:-1].copy(), own[-1]
            model.intercept_ = own[0] if model.fit_intercept else 0.0
            residual = np.abs(targets - rows @ model.coef_ - model.intercept_)[space.rows(i)]
            model.outliers_ = residual > model.scale_ * model.epsilon
            model.intercept_ -= frame.shift @ model.coef_
            model.n_iter_ = int(np.ceil(solved.sweeps[i]))

        return filled_models(estimator, ~spoilt & solved.converged, fill, features_of(X))

    def agrees(self, joint: Any, ordinary: Any, X: Any, y: Any) -> bool:
        """Return whether both have the least loss on these rows, each to its own tolerance."""
        mine, theirs = (_loss(model, X, y) for model in (joint, ordinary))
        # One that used up its iterations may stop anywhere above the minimum.
        excess = np.inf if ordinary.n_iter_ >= ordinary.max_iter else _EXCESS
        return bool(-_ROUNDING * abs(mine) <= theirs - mine <= excess * abs(mine))


def _pays(n: int, p: int) -> bool:
    least = _LEAST_ROWS if p <= _CHEAP_FEATURES else _ROWS_A_FEATURE
    return least * (p + 1) <= n


@final
@dataclass(frozen=True, eq=False)
class HuberProblem:
    """Penalised Huber losses of all candidates; parameters are intercept, coefficients and scale.

    With residuals ``t`` in units of the scale, cut off at ``epsilon``, the loss falls by ``2 t``
    with the decision and rises by ``1 - t^2`` with the scale.

    Parameters
    ----------
    estimator : HuberRegressor
        Whose ``epsilon``, ``alpha`` and ``fit_intercept`` count.
    rows : ndarray of shape (n_rows, p)
    targets : ndarray of shape (n_rows,)
    space : Memberships
    weights : ndarray of shape (n_rows,)
        What rows count for in the start.
    """

    estimator: Any
    rows: Floats
    targets: Floats
    space: Memberships
    weights: Floats

    def minimise(self, chosen: NDArray[np.int64]) -> Solution:
        """Return minimiser of each chosen candidate; alone where the others' way is not its own."""
        m, width = self.space.n_subsets, self.rows.shape[1] + 2
        solution = Solution(np.zeros((m, width, 1)), np.zeros(m, dtype=bool), np.zeros(m))
        start = self.common_start()
        if start is not None:
            solution = minimise_from(self, *start, m, chosen=chosen, single=True)
        for i in chosen[~solution.converged[chosen]]:
            own = self.space.rows(int(i))
            single = self._single(own, np.ones(len(own)))
            first = single.start()
            solved = None if first is None else newton(single, first)
            if solved is not None:
                solution.parameters[i], steps = solved
                solution.converged[i] = True
                solution.sweeps[i] += steps
        return solution

    def gradient(
        self, parameters: Floats, chosen: NDArray[np.int64], *, single: bool = False
    ) -> Floats:
        """Return the gradients at the parameters (candidates, p + 2, 1) of the chosen candidates.

        All infinite where the scale is not positive: no loss is defined there.
        """
        kind = np.float32 if single else np.float64
        scale = parameters[:, -1, 0]
        is_valid = scale > 0
        inverse = 1 / np.where(is_valid, scale, 1.0)
        # Residuals in units of the scale are decisions on the rows beside their targets.
        columns = -parameters[:, :-1, 0].T * inverse
        columns = np.vstack([columns, inverse]).astype(kind)
        total = np.zeros((len(columns), len(scale)))
        counts, squares = np.zeros(len(scale)), np.zeros(len(scale))
        block = np.ones((_ROWS, len(columns)), kind)
        for start in range(0, len(self.rows), _ROWS):
            part = slice(start, min(start + _ROWS, len(self.rows)))
            size = part.stop - start
            block[:size, 1:-1], block[:size, -1] = self.rows[part], self.targets[part]
            members = block_members(self.space, part)[:, chosen]
            cut = block[:size] @ columns
            np.clip(cut, -self.estimator.epsilon, self.estimator.epsilon, out=cut)
            cut *= members
            total += block[:size].T @ cut
            squares += np.einsum("ni,ni->i", cut, cut)
            counts += members.sum(axis=0)
        gradient = np.empty_like(parameters)
        gradient[:, :-1, 0] = -2 * total[:-1].T
        gradient[:, 1:-1] += 2 * self.estimator.alpha * parameters[:, 1:-1]
        gradient[:, -1, 0] = counts - squares
        if not self.estimator.fit_intercept:
            gradient[:, 0] = 0.0
        gradient[~is_valid] = np.inf
        return gradient

    def common_start(self) -> tuple[Floats, Floats] | None:
        """Return parameters (p + 2, 1) near minimiser on all rows, and a root of the Hessian."""
        inclusion = float(np.asarray(self.space.membership(slice(0, 4096))).mean())
        single = self._single(np.arange(len(self.rows)), self.weights * inclusion)
        start = single.start()
        if start is None:
            return None
        try:
            return start, np.asarray(np.linalg.cholesky(single.terms(start)[1]))
        except np.linalg.LinAlgError:
            return None

    def _single(self, index: NDArray[np.int64], weights: Floats) -> _SingleHuber:
        ones = np.full(len(index), float(self.estimator.fit_intercept))
        block = np.column_stack([ones, self.rows[index]])
        return _SingleHuber(self.estimator, block, self.targets[index], weights)


@final
@dataclass(frozen=True, eq=False)
class _SingleHuber:
    """The same for one model of weighted rows, which begin with a one, or zero for no intercept."""

    estimator: Any
    rows: Floats
    targets: Floats
    weights: Floats

    def terms(self, point: Floats) -> tuple[Floats, Floats]:
        """Return the gradient and Hessian.

        See :class:`~pacsklearn.joint.newton.TwiceDifferentiable`.
        """
        scale, q = float(point[-1, 0]), len(point)
        gradient, hessian = np.full((q, 1), np.inf), np.zeros((q, q))
        if not scale > 0:
            return gradient, hessian
        away = (self.targets - self.rows @ point[:-1, 0]) / scale
        cut = np.clip(away, -self.estimator.epsilon, self.estimator.epsilon)
        gradient[:-1, 0] = -2 * self.rows.T @ (self.weights * cut)
        gradient[1:-1] += 2 * self.estimator.alpha * point[1:-1]
        gradient[-1, 0] = self.weights @ (1 - cut**2)
        inner = np.abs(away) < self.estimator.epsilon
        beside = np.column_stack([self.rows, away])[inner]
        hessian = 2 / scale * (beside.T * self.weights[inner]) @ beside
        hessian[np.arange(1, q - 1), np.arange(1, q - 1)] += 2 * self.estimator.alpha
        if not self.estimator.fit_intercept:
            hessian[0, 0] = 1.0
        return gradient, hessian

    def start(self) -> Floats | None:
        """Solve weighted least squares in turn with the scale that the cut residuals give."""
        q, mass, epsilon = self.rows.shape[1], float(self.weights.sum()), self.estimator.epsilon
        ridge = np.diag(np.full(q, self.estimator.alpha))
        ridge[0, 0] = 0.0 if self.estimator.fit_intercept else 1.0
        one: Floats = np.zeros(q)
        scale = float(np.sqrt(self.weights @ self.targets**2 / mass))
        for _ in range(_START_STEPS):
            if not scale > 0:
                return None
            far = np.abs(self.targets - self.rows @ one) / scale
            weights = self.weights / (np.maximum(far, epsilon) / epsilon * scale)
            weighed = self.rows * weights[:, None]
            try:
                matrix = weighed.T @ self.rows + ridge
                new = np.asarray(np.linalg.solve(matrix, weighed.T @ self.targets))
            except np.linalg.LinAlgError:
                return None
            moved, one = float(np.max(np.abs(self.rows[::97] @ (new - one)))), new
            limit = epsilon * scale
            cut = np.clip(self.targets - self.rows @ one, -limit, limit)
            before, scale = scale, float(np.sqrt(self.weights @ cut**2 / mass))
            if moved + abs(scale - before) <= 1e-2 * scale:
                break
        return np.append(one, scale)[:, None]


def _loss(model: Any, X: Any, y: Any) -> float:
    """Return the penalised loss of a fitted model on rows and targets."""
    rows, targets = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    far = np.abs(targets - rows @ model.coef_ - model.intercept_) / model.scale_
    inner = np.minimum(far, model.epsilon)
    losses = 1 + inner**2 + 2 * model.epsilon * (far - inner)
    return float(model.scale_ * losses.sum() + model.alpha * model.coef_ @ model.coef_)
