"""Poisson, gamma and Tweedie regression of every subset."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import GammaRegressor, PoissonRegressor

from pacsklearn._sklearn_compat import prepare_for_predict
from pacsklearn.joint.convex_fitter import ConvexFitter, Scaling
from pacsklearn.joint.joint_problem import Penalty
from pacsklearn.joint.loss import Chosen, Loss
from pacsklearn.kernel.bounds.arrays import Floats

_GAMMA = 2.0


@final
class Tweedie(Loss):
    """Half the unit deviance of power 1 to 2 (Poisson to gamma) of ``exp(z)``, up to a constant."""

    def __init__(self, targets: Floats, power: float) -> None:
        self.targets, self.power = targets, power

    def slopes(self, decision: NDArray[np.floating], rows: Chosen) -> None:
        targets = self.targets[rows, None, None].astype(decision.dtype)
        if self.power == 1:
            np.exp(decision, out=decision)
            decision -= targets
        elif self.power == _GAMMA:
            np.exp(-decision, out=decision)
            decision *= -targets
            decision += 1.0
        else:
            falling = targets * np.exp((1 - self.power) * decision)
            np.exp((2 - self.power) * decision, out=decision)
            decision -= falling

    def curvature(self, decision: Floats, rows: Chosen) -> Floats:
        one, power = decision[:, 0], self.power
        falling = (power - 1) * self.targets[rows] * np.exp((1 - power) * one)
        curvature: Floats = falling + (2 - power) * np.exp((2 - power) * one)
        return curvature[:, None, None]

    def value(self, decision: Floats, rows: NDArray[np.int64]) -> float:
        one, power, targets = decision[:, 0], self.power, self.targets[rows]
        if power == 1:
            return float(np.sum(np.exp(one) - targets * one))
        if power == _GAMMA:
            return float(np.sum(one + targets * np.exp(-one)))
        rising, falling = np.exp((2 - power) * one), np.exp((1 - power) * one)
        return float(np.sum(rising / (2 - power) - targets * falling / (1 - power)))


@final
class GeneralisedLinearFitter(ConvexFitter):
    """Half the mean deviance with a logarithmic link, and a positive l2 penalty."""

    name = "generalised_linear"
    description = "quasi-Newton steps of all subsets by two matrix products each"
    estimators = (
        "sklearn.linear_model.PoissonRegressor",
        "sklearn.linear_model.GammaRegressor",
        "sklearn.linear_model.TweedieRegressor",
    )
    rows_a_parameter = 16  # the penalty grows with the rows, so that ordinary fits converge soon

    @staticmethod
    def suits(estimator: Any) -> bool:
        # Other links, and powers outside this range, are not convex.
        if getattr(estimator, "link", "log") not in ("auto", "log"):
            return False
        convex = 1 <= _power(estimator) <= _GAMMA
        return convex and estimator.alpha > 0 and not estimator.warm_start

    def losses(self, estimator: Any, targets: Any, n_classes: int) -> list[Loss]:
        return [Tweedie(targets, _power(estimator))]

    def are_valid(self, estimator: Any, targets: Floats) -> NDArray[np.bool_]:
        lowest = targets > 0 if _power(estimator) == _GAMMA else targets >= 0
        return super().are_valid(estimator, targets) & lowest

    def penalty(self, estimator: Any, counts: Floats, scaling: Scaling) -> Penalty:
        weights = estimator.alpha * counts[:, None] * scaling.scale**2
        return Penalty(weights, np.zeros(len(counts)), np.zeros_like(scaling.mean))

    def fill(self, model: Any, coef: Floats, intercept: Floats, sweeps: int) -> None:
        model.coef_ = coef[0]
        model.intercept_ = float(intercept[0]) if model.fit_intercept else 0.0
        model.n_iter_ = sweeps
        prepare_for_predict(model)


def _power(estimator: Any) -> float:
    known = {PoissonRegressor: 1.0, GammaRegressor: _GAMMA}
    return float(known.get(type(estimator), getattr(estimator, "power", 1.0)))
