"""Support vector machines without a kernel, with a squared loss, of every subset."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC, LinearSVR

from pacsklearn.joint.convex_fitter import SLACK, ConvexFitter, Scaling
from pacsklearn.joint.joint_problem import Penalty, are_usable
from pacsklearn.joint.loss import Chosen, Loss
from pacsklearn.kernel.bounds.arrays import Floats


@final
class Hinge(Loss):
    """``C max(0, 1 - y z)**2`` for targets -1 and 1."""

    def __init__(self, signs: Floats, cost: float) -> None:
        self.signs, self.cost = signs, cost
        self.slope_scale = 2.0 * cost

    def slopes(self, decision: NDArray[np.floating], rows: Chosen) -> None:
        signs = self.signs[rows, None, None].astype(decision.dtype)
        decision *= signs
        decision -= 1.0
        np.minimum(decision, 0.0, out=decision)
        decision *= signs

    def curvature(self, decision: Floats, rows: Chosen) -> Floats:
        inside = decision[:, 0] * self.signs[rows] < 1
        return 2.0 * self.cost * inside.astype(np.float64)[:, None, None]

    def value(self, decision: Floats, rows: NDArray[np.int64]) -> float:
        short = np.maximum(0.0, 1.0 - decision[:, 0] * self.signs[rows])
        return float(self.cost * np.sum(short**2))


@final
class Epsilon(Loss):
    """``C max(0, |z - y| - epsilon)**2``."""

    def __init__(self, targets: Floats, cost: float, epsilon: float) -> None:
        self.targets, self.cost, self.epsilon = targets, cost, epsilon
        self.slope_scale = 2.0 * cost

    def slopes(self, decision: NDArray[np.floating], rows: Chosen) -> None:
        decision -= self.targets[rows, None, None].astype(decision.dtype)
        if self.epsilon:
            decision -= np.clip(decision, -self.epsilon, self.epsilon)

    def curvature(self, decision: Floats, rows: Chosen) -> Floats:
        outside = np.abs(decision[:, 0] - self.targets[rows]) >= self.epsilon
        return 2.0 * self.cost * outside.astype(np.float64)[:, None, None]

    def value(self, decision: Floats, rows: NDArray[np.int64]) -> float:
        beyond = np.maximum(0.0, np.abs(decision[:, 0] - self.targets[rows]) - self.epsilon)
        return float(self.cost * np.sum(beyond**2))


@final
class LinearSVMFitter(ConvexFitter):
    """Squared hinge, one class against the rest; squared insensitive loss.

    As in liblinear the intercept is the weight of a feature that is ``intercept_scaling``
    everywhere, and is penalised like one.
    """

    name = "linear_svm"
    description = "quasi-Newton steps of all subsets by two matrix products each"
    estimators = (
        "sklearn.svm.LinearSVC",
        "sklearn.svm.LinearSVR",
    )
    most_cells = 100_000  # liblinear is sooner done where columns are very many

    def __init__(self, *, wants_classes: bool) -> None:
        self.wants_classes = wants_classes

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> Self | None:
        if type(estimator) is LinearSVC:
            plain = (
                estimator.penalty == "l2"
                and estimator.loss == "squared_hinge"
                and estimator.multi_class == "ovr"
                and are_usable(estimator.class_weight)
            )
        elif type(estimator) is LinearSVR:
            plain = estimator.loss == "squared_epsilon_insensitive"
        else:
            return None
        usable = plain and estimator.C > 0 and estimator.intercept_scaling > 0
        return cls(wants_classes=type(estimator) is LinearSVC) if usable else None

    def losses(self, estimator: Any, targets: Any, n_classes: int) -> list[Loss]:
        if not self.wants_classes:
            return [Epsilon(targets, estimator.C, estimator.epsilon)]
        positive = [1] if n_classes == 2 else range(n_classes)
        return [Hinge(np.where(targets == code, 1.0, -1.0), estimator.C) for code in positive]

    def loss_weights(self, weights: Floats, which: int) -> Floats:
        # Where one class stands against several others, liblinear weighs that class only.
        if weights.shape[1] == 2:
            return weights
        own = np.ones_like(weights)
        own[:, which] = weights[:, which]
        return own

    def penalty(self, estimator: Any, counts: Floats, scaling: Scaling) -> Penalty:
        bias = 1.0 / estimator.intercept_scaling**2 if estimator.fit_intercept else 0.0
        return Penalty(scaling.scale**2, np.full(len(counts), bias), scaling.mean)

    def fill(self, model: Any, coef: Floats, intercept: Floats, sweeps: int) -> None:
        model.coef_ = coef if self.wants_classes else coef[0]
        model.intercept_ = intercept if model.fit_intercept else 0.0
        model.n_iter_ = sweeps

    def is_solved(self, model: Any, gradient: Floats, start: Floats, n_rows: float) -> bool:
        return bool(np.linalg.norm(gradient) <= SLACK * model.tol * np.linalg.norm(start))

    def excess(self, model: Any) -> float:
        # The dual solver's tolerance is one on the dual's slopes.
        return float(max(model.tol, 1e-6))
