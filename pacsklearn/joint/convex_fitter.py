"""Linear models with a strictly convex penalised loss, fitted on all candidates together."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._sklearn_compat import features_of
from pacsklearn.joint.filled_models import filled_models
from pacsklearn.joint.joint_minimiser import minimise
from pacsklearn.joint.joint_problem import Penalty, Problem, TableProblem, Weighing, class_weights
from pacsklearn.joint.loss import Loss
from pacsklearn.joint.member_sums import Memberships, double_rows, member_sums
from pacsklearn.joint.row_frame import RowFrame
from pacsklearn.joint.table_fitter import TableFitter, TableView
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.secret.secret_space import SecretSpace

_LARGEST = 1e100
# The joint parameters may not be worse than the ordinary ones by more than rounding.
_ROUNDING = 1e-9
_FAR = 3000.0
_MOST_CLASSES = 32
# A target of every model, for rows that no solved candidate holds.
_VALID = 1.0
# Rows of the largest Hessian that Newton's method may need for each candidate: of one output, and
# of several, where it costs as many products as there are pairs of them.
_MOST_CURVATURE, _MOST_OF_SEVERAL = 2048, 768
# Curvatures of so many rows are cheap.
_CHEAP_CURVATURE = 128
# Of several problems, one a class: few rows do not pay what each begins with.
_ROWS_A_PROBLEM = 10
SLACK = 10.0
"""Of a solver's tolerance, within which its ordinary fit is believed to have stopped."""


@final
@dataclass(frozen=True, eq=False)
class Scaling:
    """What a scaler before the model subtracts and divides by, for each candidate.

    Parameters
    ----------
    mean, scale : ndarray of shape (m, p)
    """

    mean: Floats
    scale: Floats

    @classmethod
    def none(cls, m: int, p: int) -> Scaling:
        return cls(np.zeros((m, p)), np.ones((m, p)))


class ConvexFitter(TableFitter):
    """Fits by :func:`~pacsklearn.joint.joint_minimiser.minimise`, one problem a set of outputs.

    Attributes
    ----------
    wants_classes : bool
        Whether ``y`` holds class labels, of which every candidate has to see each.
    rows_a_parameter : int
        Curvatures that are not cheap pay where rows are so many times as many as parameters.
    most_cells : float
        Numbers of a table up to which cheap ones pay.
    """

    rows_a_parameter: int = 4
    most_cells: float = math.inf

    @abstractmethod
    def losses(self, estimator: Any, targets: Any, n_classes: int) -> list[Loss]:
        """Return the loss of each problem: one, or one a class; none where no problem is known.

        ``targets`` are class codes, or valid numbers where ``n_classes`` is 0. Those of a batch of
        a table need not show all classes.
        """

    def are_valid(self, estimator: Any, targets: Floats) -> NDArray[np.bool_]:
        """Return which numbers are targets of this model."""
        return np.abs(targets) <= _LARGEST

    def loss_weights(self, weights: Floats, which: int) -> Floats:
        """Return the weights of the classes (m, K) in one of the problems.

        Their own when not overridden.
        """
        return weights

    @abstractmethod
    def penalty(self, estimator: Any, counts: Floats, scaling: Scaling) -> Penalty:
        """Return the penalty of candidates with so many rows."""

    @abstractmethod
    def fill(self, model: Any, coef: Floats, intercept: Floats, sweeps: int) -> None:
        """Set what ``fit`` would; ``coef`` has shape (outputs, p), ``intercept`` (outputs,)."""

    def is_solved(self, model: Any, gradient: Floats, start: Floats, n_rows: float) -> bool:
        """Return whether the ordinary solver's rule may stop at this gradient (p + 1, outputs).

        ``start`` is the gradient at parameters of zero; ``n_rows`` what all rows weigh.
        """
        return bool(np.max(np.abs(gradient)) <= SLACK * model.tol * n_rows)

    def excess(self, model: Any) -> float:
        """Return how far above the minimum, relatively, the ordinary solver may stop."""
        return 1e-6

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        if not self.pays(estimator, X, y):
            return [None] * space.n_subsets
        return self.fit_scaled(estimator, X, y, space, None)

    def pays(self, estimator: Any, X: Any, y: Any) -> bool:
        """Return whether a joint fit costs less than fits one by one, by the table's sizes alone.

        A candidate that converges slowly is solved by curvatures of its own, on half of the rows.
        Where columns are many for the rows candidates are separable, and an ordinary solver that is
        content with less accuracy is sooner done.
        """
        rows, labelled = double_rows(X), self._targets(y)
        if rows is None or labelled is None:
            return False
        targets, classes = labelled
        losses = self.losses(estimator, targets, 0 if classes is None else len(classes))
        if not losses:
            return False
        (n, p), outputs, problems = rows.shape, losses[0].n_outputs, len(losses)
        if not _is_solvable(p, outputs):
            return False
        are_many = self.rows_a_parameter * outputs * problems * (p + 1) <= n
        if problems > 1:
            return are_many and _ROWS_A_PROBLEM * problems**2 <= n
        are_cheap = outputs * min(p + 1, n // 2) <= _CHEAP_CURVATURE
        return are_many or (are_cheap and n * p <= self.most_cells)

    def fit_scaled(
        self, estimator: Any, X: Any, y: Any, space: SecretSpace, scaling: Scaling | None
    ) -> list[Any]:
        """Fit all as :meth:`fit_all`, on rows that each candidate first scales by its own numbers.

        The rows stay as they are: a scaled feature is a feature with another penalty.
        """
        m = space.n_subsets
        rows = double_rows(X)
        labelled = None if rows is None else self._targets(y)
        if rows is None or labelled is None:
            return [None] * m
        targets, classes = labelled
        usable = np.all(np.abs(rows) <= _LARGEST, axis=1)
        if classes is None:
            usable &= self.are_valid(estimator, targets)
        counted = member_sums(np.column_stack([~usable, _counts(targets, classes)]), space)
        if not usable.all():
            rows = np.where(usable[:, None], rows, 0.0)
            targets = targets if classes is not None else np.where(usable, targets, _VALID)
        scaling = scaling or Scaling.none(m, rows.shape[1])
        problems = self._problems(estimator, rows, targets, classes, space, counted[:, 1:], scaling)
        fit = (counted[:, 0] == 0) & np.all(counted[:, 1:] > 0, axis=1)
        return self._filled(estimator, problems, fit, scaling, features_of(X), classes)

    def table_sums(
        self, rows: Any, targets: Any, members: Memberships, n_classes: int
    ) -> list[Any]:
        """Return how many rows each candidate has, and of each class."""
        return [member_sums(_counts(targets, range(n_classes)), members)]

    def fit_table(self, estimator: Any, sums: list[Any], view: TableView) -> list[Any]:
        return self.fit_table_scaled(estimator, sums[0], view, None)

    def fit_table_scaled(
        self, estimator: Any, counted: Floats, view: TableView, scaling: Scaling | None
    ) -> list[Any]:
        """Fit all as :meth:`fit_scaled`, in passes over a table."""
        rows, targets, classes = view.rows, np.asarray(view.targets), view.classes
        scaling = scaling or Scaling.none(len(counted), rows.shape[1])
        samples = self._problems(estimator, rows, targets, classes, view.members, counted, scaling)
        n_classes = 0 if classes is None else len(classes)
        problems = [
            TableProblem(
                sample, view.n_rows, partial(self._loss, estimator, n_classes, which), view.total
            )
            for which, sample in enumerate(samples)
        ]
        fit = np.all(counted > 0, axis=1)
        return self._filled(estimator, problems, fit, scaling, vars(view.features), classes)

    def _problems(
        self,
        estimator: Any,
        rows: Floats,
        targets: Any,
        classes: Any,
        members: Any,
        counted: Floats,
        scaling: Scaling,
    ) -> list[Problem]:
        """Return one for each loss; none where targets are no valid ones, or outputs too many.

        ``counted`` says how many rows each candidate has, and of each class.
        """
        losses = self.losses(estimator, targets, 0 if classes is None else len(classes))
        if classes is None and not np.all(self.are_valid(estimator, targets)):
            losses = []
        if not losses:
            return []
        if not _is_solvable(rows.shape[1], losses[0].n_outputs):
            return []
        penalty = self.penalty(estimator, counted[:, 0], scaling)
        weights = None
        if classes is not None:
            weights = class_weights(estimator.class_weight, classes, counted[:, 1:])
        intercept = bool(estimator.fit_intercept)
        numbers = targets if classes is None else None
        frame = RowFrame.of(rows, numbers, fit_intercept=intercept)
        problems = []
        for which, loss in enumerate(losses):
            own = None if weights is None else Weighing(targets, self.loss_weights(weights, which))
            problems.append(Problem(rows, loss, members, penalty, intercept, frame, own))
        return problems

    def _loss(self, estimator: Any, n_classes: int, which: int, targets: Any) -> Loss:
        if not n_classes and not np.all(self.are_valid(estimator, targets)):
            raise ValueError("the target holds numbers that this model cannot be fitted to")
        return self.losses(estimator, targets, n_classes)[which]

    def _filled(
        self,
        estimator: Any,
        problems: Sequence[Problem | TableProblem],
        fit: Any,
        scaling: Scaling,
        features: dict[str, Any],
        classes: Any,
    ) -> list[Any]:
        """Return clones fitted from the minimisers.

        None where ``fit`` is False or none was found.
        """
        m = len(fit)
        if not problems:
            return [None] * m
        parts, sweeps = [], np.zeros(m)
        for problem in problems:
            solved = minimise(problem, chosen=np.flatnonzero(fit))
            fit &= solved.converged
            sweeps = np.maximum(sweeps, solved.sweeps)
            parts.append(solved.parameters)
        parameters = np.concatenate(parts, axis=2)

        def fill(model: Any, i: int) -> None:
            raw = parameters[i, 1:].T
            intercept = parameters[i, 0] + raw @ scaling.mean[i]
            self.fill(model, raw * scaling.scale[i], intercept, int(np.ceil(sweeps[i])))
            if classes is not None:
                model.classes_ = classes.copy()

        return filled_models(estimator, fit, fill, features)

    def agrees(self, joint: Any, ordinary: Any, X: Any, y: Any) -> bool:
        """Return whether both solve one problem on these rows, each to its own tolerance.

        The ordinary parameters must satisfy the ordinary solver's stopping rule for the objective
        that the joint ones minimise, or be as good as the joint ones; and not better.
        """
        rows, labelled = double_rows(X), self._targets(y)
        if rows is None or labelled is None:
            return False
        targets, classes = labelled
        counted, scaling = _counts(targets, classes).sum(axis=0), Scaling.none(1, rows.shape[1])
        problems = self._problems(ordinary, rows, targets, classes, None, counted[None], scaling)
        at = 0
        for problem in problems:
            outputs = slice(at, at + problem.loss.n_outputs)
            at = outputs.stop
            weighing = problem.weighing
            every = np.ones(len(rows)) if weighing is None else weighing.weights[0][targets]
            both = [_parameters(model, outputs) for model in (joint, ordinary)]
            value, _ = _objective(problem, both[0], every)
            other, gradient = _objective(problem, both[1], every)
            _, start = _objective(problem, np.zeros_like(both[0]), every)
            if not problem.fit_intercept:
                gradient[0] = start[0] = 0.0
            if value > other + _ROUNDING * abs(other):
                return False
            # One that used up its iterations, or its digits, may stop anywhere above the minimum.
            solved = bool(np.max(ordinary.n_iter_) >= ordinary.max_iter) or _is_far(rows)
            solved = solved or self.is_solved(ordinary, gradient, start, float(every.sum()))
            if not solved and other - value > self.excess(ordinary) * abs(value):
                return False
        return bool(problems)

    def _targets(self, y: Any) -> tuple[Any, Any] | None:
        """Return the codes and classes, or numbers and None."""
        if np.ndim(y) != 1:
            return None
        if self.wants_classes:
            classes, codes = np.unique(np.asarray(y), return_inverse=True)
            return (codes, classes) if 2 <= classes.size <= _MOST_CLASSES else None
        targets = np.asarray(y)
        if targets.dtype.kind not in "iuf" or targets.dtype == np.float32:
            return None
        return targets.astype(np.float64), None


def _is_solvable(p: int, outputs: int) -> bool:
    """Return whether a Hessian of all parameters is small enough for Newton's method."""
    return outputs * (p + 1) <= (_MOST_CURVATURE if outputs == 1 else _MOST_OF_SEVERAL)


def _counts(targets: Any, classes: Any) -> Floats:
    """Return a column of ones, and one for each class of which targets are the codes."""
    codes = range(0 if classes is None else len(classes))
    return np.column_stack([np.ones(len(targets)), *(targets == code for code in codes)])


def _is_far(rows: Floats) -> bool:
    """Return whether a feature is too far from zero, in its spread, for exact slopes."""
    spread = rows.std(axis=0)
    return bool(np.any(np.abs(rows.mean(axis=0)) > _FAR * spread, where=np.ptp(rows, axis=0) > 0))


def _parameters(model: Any, outputs: slice) -> Floats:
    coef = np.atleast_2d(model.coef_)
    intercept = np.broadcast_to(np.ravel(model.intercept_), (len(coef),))
    return np.vstack([intercept[outputs], coef[outputs].T])


def _objective(problem: Problem, parameters: Floats, weights: Floats) -> tuple[float, Floats]:
    """Return penalised loss of all rows, which weigh so much, and its gradient (p + 1, outputs)."""
    rows, loss = problem.rows, problem.loss
    decision = rows @ parameters[1:] + parameters[0]
    value = 0.0
    for weight in np.unique(weights):
        alike = np.flatnonzero(weights == weight)
        value += float(weight) * loss.value(decision[alike], alike)
    slopes = (decision * loss.argument_scale)[:, :, None]
    loss.slopes(slopes, slice(0, len(rows)))
    slope = loss.slope_scale * slopes[:, :, 0] * weights[:, None]
    pull = problem.penalty.gradient(parameters[None])[0]
    value += float(np.sum(pull * parameters)) / 2
    return value, np.vstack([slope.sum(axis=0), rows.T @ slope]) + pull
