"""Additive models of public bins: one number a level, up to what changes no decision."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from sklearn.base import is_classifier

from pacsklearn.canonical.block_metric import BlockMetric
from pacsklearn.canonical.features import encoding_of, second_moment, set_facts
from pacsklearn.canonical.linear import SCALE_WEIGHT
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Constant, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.tabular.additive.additive_model import AdditiveModel
from pacsklearn.tabular.additive.terms import monotone_ranges, repaired
from pacsklearn.tabular.schema.canonicalizer import schema_facts
from pacsklearn.universe.metrics import DiagonalMetric

_LARGEST_LOG_SCALE = 100.0


@final
class AdditiveCanonicalizer(Canonicalizer):
    """Weights of all levels and intercepts; bins and categories are public.

    Of a classifier's scores the size is released as a number of its own, and several scores are
    released without what all of them share. Terms that are to be monotone are made so again after
    the noise, by a function of the noisy numbers alone.
    """

    name = "additive"
    description = "one number a level of additive models on public bins"
    estimators = (
        "pacsklearn.tabular.AdditiveClassifier",
        "pacsklearn.tabular.AdditiveRegressor",
    )
    noised = ("coef_", "intercept_")
    reads_rows = False

    def __init__(self, *, classifies: bool, is_repaired: bool = False) -> None:
        self.classifies = classifies
        self.has_affine_score = classifies and not is_repaired
        scores = ("predict_proba", "predict_log_proba", "decision_function") if classifies else ()
        self.methods = ("predict", *scores, "effects")

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> AdditiveCanonicalizer:
        return cls(classifies=is_classifier(estimator), is_repaired=bool(estimator.monotone))

    def encode(self, estimator: Any, X: Any) -> Encoding:
        weights = np.column_stack([estimator.coef_, estimator.intercept_])
        facts: dict[str, Any] = schema_facts(estimator.schema_)
        arrays: dict[str, Any] = {"weights": weights}
        if self.classifies:
            if weights.shape[0] > 1:
                weights = weights - weights.mean(axis=0)
            scale = estimator.scale_ or 1.0
            arrays = {"weights": weights / scale, "log_scale": np.log(scale)}
            facts["classes_"] = estimator.classes_
        return encoding_of(estimator, arrays, **facts)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        arrays = layout.unpack(vector)
        weights, scale = arrays["weights"], 1.0
        if self.classifies:
            logarithm = np.clip(arrays["log_scale"], -_LARGEST_LOG_SCALE, _LARGEST_LOG_SCALE)
            scale = float(np.exp(logarithm))
        set_facts(template, layout)
        template.schema_ = layout.fact("schema_")
        ranges = monotone_ranges(template.terms_, template.monotone)
        template.coef_ = repaired(weights[:, :-1] * scale, ranges)
        template.intercept_ = weights[:, -1] * scale
        template.scale_ = scale
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return the expected squared change of the scores on the universe's rows."""
        n_scores, length = dict(layout.blocks)["weights"]
        blocks: list[tuple[int, Metric]] = [(length, second_moment(estimator.design(X)[:, 1:]))]
        blocks *= n_scores
        if self.classifies:
            blocks.append((1, DiagonalMetric(np.array([SCALE_WEIGHT * n_scores]))))
        return BlockMetric(tuple(blocks))

    def constant(self, layout: Layout, value: float, template: Any) -> Constant | None:
        if self.classifies:
            return None
        ((_, shape),) = layout.blocks
        weights = np.zeros(shape)
        weights[:, -1] = value
        return Constant(weights.ravel())

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return estimator.predict_proba(X) if self.classifies else estimator.predict(X)


def deviations_of_levels(model: AdditiveModel, variances: Floats) -> Floats:
    """Return the standard deviation of the noise of each level; as ``coef_``, (n_scores, n_levels).

    Parameters
    ----------
    model : AdditiveModel
        A released one.
    variances : ndarray of shape (d,)
        Of its canonical vector, as in :class:`~pacsklearn.kernel.release.release.Release`.

    Notes
    -----
    For the size of the scores that was released: that number's own noise stretches all levels of
    a classifier alike, and changes no decision.
    """
    n_scores, n_levels = np.atleast_2d(model.coef_).shape
    scale = model.scale_ if is_classifier(model) else 1.0
    weights = variances[: n_scores * (n_levels + 1)].reshape(n_scores, n_levels + 1)
    return np.asarray(scale * np.sqrt(weights[:, :-1]))
