"""Nearest centroid: one point a class."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np

from pacsklearn.canonical.features import encoding_of, set_facts
from pacsklearn.canonical.log_domain import positive, simplex
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.universe.metrics import DiagonalMetric

# Versions of scikit-learn that give probabilities compare in units of the within-class spread.
_SPREAD = "within_class_std_dev_"
_TINY = float(np.finfo(np.float64).tiny)


@final
class NearestCentroidCanonicalizer(Canonicalizer):
    """Centroids, and the spread within the classes where the version of scikit-learn uses it.

    A spread of zero, which scikit-learn takes for one, is released as one. Priors are public
    unless they are ``"empirical"``.
    """

    name = "nearest_centroid"
    description = "one point a class"
    estimators = ("sklearn.neighbors.NearestCentroid",)
    methods = ("predict", "decision_function", "predict_proba", "predict_log_proba")
    noised = ("centroids_", "within_class_std_dev_", "class_prior_")
    noised_if: ClassVar = {
        "class_prior_": lambda model: getattr(model, "priors", None) == "empirical"
    }
    reads_rows = False

    def encode(self, estimator: Any, X: Any) -> Encoding:
        arrays: dict[str, Any] = {"centroids": estimator.centroids_}
        if hasattr(estimator, _SPREAD):
            spread = np.asarray(getattr(estimator, _SPREAD), dtype=np.float64).ravel()
            arrays["log_spread"] = np.log(np.where(spread > 0, spread, 1.0))
        if getattr(estimator, "priors", None) == "empirical":
            arrays["log_prior"] = np.log(estimator.class_prior_)
        return encoding_of(estimator, arrays, classes_=estimator.classes_)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        arrays, classes = layout.unpack(vector), layout.fact("classes_")
        set_facts(template, layout)
        template.centroids_ = arrays["centroids"]
        if "log_spread" in arrays:
            setattr(template, _SPREAD, positive(arrays["log_spread"]))
        if "log_prior" in arrays:
            template.class_prior_ = simplex(arrays["log_prior"])
        elif hasattr(template, "priors"):
            uniform = isinstance(template.priors, str)
            given = np.ones(len(classes)) if uniform else np.asarray(template.priors, dtype=float)
            template.class_prior_ = given / given.sum()
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return squared moves of the centroids; the rest counts as a relative error of them."""
        (k, p), where = dict(layout.blocks)["centroids"], layout.slices()
        size = float(np.mean(np.var(vectors[:, where["centroids"]].reshape(-1, k, p), axis=1)))
        weights = {
            name: np.full(shape, 1.0 if name == "centroids" else max(size, _TINY))
            for name, shape in layout.blocks
        }
        return DiagonalMetric(layout.pack(weights))

    def behaviour(self, estimator: Any, X: Any) -> Any:
        if hasattr(estimator, "predict_proba"):
            return estimator.predict_proba(X)
        return estimator.predict(X)
