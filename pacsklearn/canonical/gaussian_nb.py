"""Gaussian naive Bayes: a mean and a variance for each class and feature."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np

from pacsklearn.canonical.features import encoding_of, set_facts
from pacsklearn.canonical.log_domain import positive, prior_of
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.universe.metrics import DiagonalMetric


@final
class GaussianNBCanonicalizer(Canonicalizer):
    """Means, and logarithms of the variances (smoothing included) and of the class priors.

    Priors given as a parameter are public and stay as they are.
    """

    name = "gaussian_nb"
    description = "mean and variance of each class and feature"
    estimators = ("sklearn.naive_bayes.GaussianNB",)
    methods = ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba")
    noised = ("theta_", "var_", "class_prior_")
    noised_if: ClassVar = {"class_prior_": lambda model: model.priors is None}
    reads_rows = False

    def encode(self, estimator: Any, X: Any) -> Encoding:
        with np.errstate(divide="ignore"):  # a variance of zero is reported by the session
            arrays = {"theta": estimator.theta_, "log_var": np.log(estimator.var_)}
        if estimator.priors is None:
            arrays["log_prior"] = np.log(estimator.class_prior_)
        return encoding_of(estimator, arrays, classes_=estimator.classes_)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        arrays = layout.unpack(vector)
        set_facts(template, layout)
        template.theta_ = arrays["theta"]
        template.var_ = positive(arrays["log_var"])
        template.class_prior_ = prior_of(arrays, template.priors)
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return the expected squared change of a class's log-density on its rows, first order."""
        typical = layout.unpack(vectors.mean(axis=0))
        weights = {
            "theta": 1 / positive(typical["log_var"]),
            "log_var": np.full(typical["log_var"].shape, 0.5),
            "log_prior": np.ones(len(layout.fact("classes_"))),
        }
        return DiagonalMetric(layout.pack(weights))

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return estimator.predict_proba(X)
