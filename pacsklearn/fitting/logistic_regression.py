"""Logistic regression of every subset, of two classes and of more."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self, final

import numpy as np
from sklearn.linear_model import LogisticRegression

from pacsklearn.fitting.convex_fitter import ConvexFitter, Scaling
from pacsklearn.fitting.joint_problem import are_usable
from pacsklearn.fitting.losses import Logistic, Loss, Penalty, Softmax
from pacsklearn.information.arrays import Floats

_BINARY = 2
# Solvers that stop by the gradient.
_SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky")


@final
class LogisticRegressionFitter(ConvexFitter):
    """The l2-penalised maximum of the likelihood."""

    wants_classes = True

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> Self | None:
        if type(estimator) is not LogisticRegression or estimator.solver not in _SOLVERS:
            return None
        # Some parameters come and go between versions.
        plain = (
            getattr(estimator, "penalty", "l2") in ("l2", "deprecated")
            and not estimator.l1_ratio
            and getattr(estimator, "multi_class", "auto") in ("auto", "deprecated", "multinomial")
            and are_usable(estimator.class_weight)
            and not estimator.warm_start
            and isinstance(estimator.C, Real)
            and 0 < float(estimator.C) < np.inf
        )
        return cls() if plain else None

    def losses(self, estimator: Any, targets: Any, n_classes: int) -> list[Loss] | None:
        if getattr(estimator, "multi_class", None) == "multinomial" and n_classes == _BINARY:
            return None
        if n_classes == _BINARY:
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
