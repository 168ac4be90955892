"""Poisson, gamma and Tweedie regression of every subset."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor

from pacsklearn._sklearn_compat import prepare_for_predict
from pacsklearn.fitting.convex_fitter import ConvexFitter, Scaling
from pacsklearn.fitting.losses import Loss, Penalty, Tweedie
from pacsklearn.information.arrays import Floats

_GAMMA = 2.0


@final
class GeneralisedLinearFitter(ConvexFitter):
    """Half the mean deviance with a logarithmic link, and a positive l2 penalty."""

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> Self | None:
        if type(estimator) is TweedieRegressor:
            # Other links, and powers outside this range, are not convex.
            if estimator.link not in ("auto", "log") or not 1 <= estimator.power <= _GAMMA:
                return None
        elif type(estimator) not in (PoissonRegressor, GammaRegressor):
            return None
        return cls() if estimator.alpha > 0 and not estimator.warm_start else None

    def losses(self, estimator: Any, targets: Any, n_classes: int) -> list[Loss] | None:
        power = {PoissonRegressor: 1.0, GammaRegressor: _GAMMA}.get(
            type(estimator), getattr(estimator, "power", 1.0)
        )
        low = targets.min()
        if not np.all(np.isfinite(targets)) or low < 0 or (power == _GAMMA and low <= 0):
            return None
        return [Tweedie(targets, float(power))]

    def penalty(self, estimator: Any, counts: Floats, scaling: Scaling) -> Penalty:
        weights = estimator.alpha * counts[:, None] * scaling.scale**2
        return Penalty(weights, np.zeros(len(counts)), np.zeros_like(scaling.mean))

    def fill(self, model: Any, coef: Floats, intercept: Floats, sweeps: int) -> None:
        model.coef_ = coef[0]
        model.intercept_ = float(intercept[0]) if model.fit_intercept else 0.0
        model.n_iter_ = sweeps
        prepare_for_predict(model)
