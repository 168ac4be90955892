"""Linear regressors, generalised linear models among them."""

from __future__ import annotations

import copy
from typing import Any, final

import numpy as np

from pacsklearn._sklearn_compat import has_log_link, prepare_for_predict
from pacsklearn.canonical.affine import AffineMap, LinearCanonicalizer
from pacsklearn.canonical.features import encoding_of, second_moment, set_facts
from pacsklearn.core.canonicalizer import Encoding, Layout
from pacsklearn.core.metric import BlockMetric, Metric
from pacsklearn.core.public_prior import Constant
from pacsklearn.information.arrays import Floats


@final
class LinearRegressorCanonicalizer(LinearCanonicalizer):
    """Weights ``[coef | intercept]`` of a regressor that predicts a function of ``X W' + b``."""

    methods = ("predict",)
    noised = ("coef_", "intercept_")
    reads_rows = False

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return encoding_of(
            estimator,
            {"weights": np.column_stack(self.weights(estimator))},
            coef_ndim=int(np.ndim(estimator.coef_)),
            intercept_ndim=int(np.ndim(estimator.intercept_)),
        )

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        weights = layout.unpack(vector)["weights"]
        coef, intercept = weights[:, :-1].copy(), weights[:, -1].copy()
        prepare_for_predict(template)
        set_facts(template, layout)
        template.coef_ = coef[0] if layout.fact("coef_ndim") == 1 else coef
        template.intercept_ = intercept if layout.fact("intercept_ndim") else float(intercept[0])
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Expected squared change of the linear predictor on the universe's rows."""
        ((_, (n_outputs, length)),) = layout.blocks
        return BlockMetric(((length, second_moment(X)),) * n_outputs)

    def constant(self, layout: Layout, value: float, template: Any) -> Constant | None:
        ((_, (n_outputs, length)),) = layout.blocks
        weights, slope = np.zeros((n_outputs, length)), 1.0
        if has_log_link(template):
            if value <= 0:
                raise ValueError(
                    f"{type(template).__name__} predicts numbers above zero, and the public "
                    f"prior says {value!r}; give prior_mean a number above zero."
                )
            value, slope = float(np.log(value)), value
        weights[:, -1] = value
        return Constant(weights.ravel(), slope)

    def fold(self, estimator: Any, affine: AffineMap) -> Any:
        folded = copy.copy(estimator)
        coef, intercept = affine.pull_back(*self.weights(estimator))
        folded.coef_ = coef[0] if np.ndim(estimator.coef_) == 1 else coef
        folded.intercept_ = intercept if np.ndim(estimator.coef_) > 1 else float(intercept[0])
        return folded
