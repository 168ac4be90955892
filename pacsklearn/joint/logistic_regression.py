"""Logistic regression of every subset, of two classes and of more."""

from __future__ import annotations

from numbers import Real
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from pacsklearn.joint.convex_fitter import ConvexFitter, Scaling
from pacsklearn.joint.joint_problem import Penalty, are_usable
from pacsklearn.joint.loss import Chosen, Loss
from pacsklearn.kernel.bounds.arrays import Floats

# Solvers that stop by the gradient.
_SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky")


@final
class Logistic(Loss):
    """``log(1 + exp(z)) - y z`` for targets 0 and 1."""

    argument_scale = 0.5
    slope_scale = 0.5

    def __init__(self, targets: Floats) -> None:
        self.targets = targets
        self._signs = 1.0 - 2.0 * targets

    def slopes(self, decision: NDArray[np.floating], rows: Chosen) -> None:
        np.tanh(decision, out=decision)  # twice the probability, less one
        decision += self._signs[rows, None, None].astype(decision.dtype)

    def curvature(self, decision: Floats, rows: Chosen) -> Floats:
        half = np.tanh(decision / 2)
        return ((1 - half**2) / 4)[:, :, None]

    def value(self, decision: Floats, rows: NDArray[np.int64]) -> float:
        one = decision[:, 0]
        return float(np.sum(np.logaddexp(0.0, one) - self.targets[rows] * one))


@final
class Softmax(Loss):
    """``logsumexp(z) - z[y]`` for class codes."""

    def __init__(self, codes: NDArray[np.intp], n_classes: int) -> None:
        self.codes, self.n_outputs = codes, n_classes

    def slopes(self, decision: NDArray[np.floating], rows: Chosen) -> None:
        decision -= decision.max(axis=1, keepdims=True)
        np.exp(decision, out=decision)
        decision /= decision.sum(axis=1, keepdims=True)
        codes = self.codes[rows]
        decision[np.arange(len(codes)), codes] -= 1.0

    def curvature(self, decision: Floats, rows: Chosen) -> Floats:
        share = np.exp(decision - logsumexp(decision, axis=1, keepdims=True))
        curvature: Floats = -share[:, :, None] * share[:, None, :]
        every = np.arange(self.n_outputs)
        curvature[:, every, every] += share
        return curvature

    def value(self, decision: Floats, rows: NDArray[np.int64]) -> float:
        own = np.take_along_axis(decision, self.codes[rows][:, None], axis=1)[:, 0]
        return float(np.sum(logsumexp(decision, axis=1) - own))


@final
class LogisticRegressionFitter(ConvexFitter):
    """The l2-penalised maximum of the likelihood."""

    name = "logistic_regression"
    description = "quasi-Newton steps of all subsets by two matrix products each"
    estimators = ("sklearn.linear_model.LogisticRegression",)
    wants_classes = True

    @staticmethod
    def suits(estimator: Any) -> bool:
        # Some parameters come and go between versions.
        return (
            estimator.solver in _SOLVERS
            and getattr(estimator, "penalty", "l2") in ("l2", "deprecated")
            and not estimator.l1_ratio
            and getattr(estimator, "multi_class", "auto") in ("auto", "deprecated", "multinomial")
            and are_usable(estimator.class_weight)
            and not estimator.warm_start
            and isinstance(estimator.C, Real)
            and 0 < float(estimator.C) < np.inf
        )

    def losses(self, estimator: Any, targets: Any, n_classes: int) -> list[Loss]:
        if getattr(estimator, "multi_class", None) == "multinomial" and n_classes == 2:
            return []
        if n_classes == 2:
            return [Logistic(targets.astype(np.float64))]
        return [Softmax(targets, n_classes)]

    def penalty(self, estimator: Any, counts: Floats, scaling: Scaling) -> Penalty:
        zeros = np.zeros_like(scaling.mean)
        return Penalty(scaling.scale**2 / estimator.C, np.zeros(len(counts)), zeros)

    def fill(self, model: Any, coef: Floats, intercept: Floats, sweeps: int) -> None:
        model.coef_, model.intercept_ = coef, intercept
        model.n_iter_ = np.array([sweeps], dtype=np.int32)
        if not model.fit_intercept:
            model.intercept_ = np.zeros(len(coef))
        elif len(coef) > 1:
            # A shift common to all classes is free; solvers that start from zero have none.
            model.intercept_ = intercept - intercept.mean()
