"""Linear one-class models: a half-space that holds most rows."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from pacsklearn.canonical.features import encoding_of, numeric_rows, second_moment, set_facts
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.core.metric import Metric
from pacsklearn.information.arrays import Floats


@final
class LinearOutlierCanonicalizer(Canonicalizer):
    """Weights and offset, up to a positive scale that changes no decision.

    The scale is the root mean square of the decision function on the subset's own rows.
    """

    methods = ("predict", "decision_function", "score_samples")
    noised = ("coef_", "offset_")

    def encode(self, estimator: Any, X: Any) -> Encoding:
        weights = np.append(np.ravel(estimator.coef_), -np.ravel(estimator.offset_))
        decision = numeric_rows(X) @ weights[:-1] + weights[-1]
        scale = float(np.sqrt(np.mean(np.square(decision)))) or 1.0
        return encoding_of(
            estimator, {"weights": weights / scale}, coef_ndim=int(np.ndim(estimator.coef_))
        )

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        set_facts(template, layout)
        coef = vector[:-1].copy()
        template.coef_ = coef if layout.fact("coef_ndim") == 1 else coef[None]
        template.offset_ = -vector[-1:]
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Expected squared change of the decision function on the universe's rows."""
        return second_moment(X)

    def behaviour(self, estimator: Any, X: Any) -> Any:
        decision = estimator.decision_function(X)
        return decision / (np.sqrt(np.mean(decision**2)) or 1.0)
