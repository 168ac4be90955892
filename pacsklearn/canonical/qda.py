"""Quadratic discriminant analysis: a mean and a covariance matrix for each class."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np

from pacsklearn.canonical.block_metric import BlockMetric
from pacsklearn.canonical.features import encoding_of, set_facts
from pacsklearn.canonical.log_domain import (
    log_metric,
    mean_metric,
    prior_of,
    spectrum_of_log,
    to_log,
)
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.universe.metrics import DiagonalMetric


@final
class QDACanonicalizer(Canonicalizer):
    """Means, logarithms of the covariance matrices, and logarithms of the class priors.

    Axes and their order are those of the noisy matrix. Priors given as a parameter are public.
    """

    name = "qda"
    description = "mean and covariance matrix of each class"
    estimators = ("sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis",)
    methods = ("predict", "decision_function", "predict_proba", "predict_log_proba")
    noised = ("means_", "rotations_", "scalings_", "priors_")
    noised_if: ClassVar = {"priors_": lambda model: model.priors is None}

    def encode(self, estimator: Any, X: Any) -> Encoding:
        parts = zip(estimator.rotations_, estimator.scalings_, strict=True)
        arrays = {
            "means": estimator.means_,
            "log_covariances": np.stack([to_log(axes, variances) for axes, variances in parts]),
        }
        # A class with fewer directions has another structure, which cannot be noised.
        if any(axes.shape[0] != axes.shape[1] for axes in estimator.rotations_):
            raise ValueError(
                "a class has fewer rows than features; use reg_param or fewer features"
            )
        if estimator.priors is None:
            arrays["log_prior"] = np.log(estimator.priors_)
        return encoding_of(estimator, arrays, classes_=estimator.classes_)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        arrays = layout.unpack(vector)
        set_facts(template, layout)
        template.means_ = arrays["means"]
        p = template.means_.shape[1]
        spectra = [spectrum_of_log(upper, p) for upper in arrays["log_covariances"]]
        template.rotations_ = [axes for axes, _ in spectra]
        template.scalings_ = [variances for _, variances in spectra]
        if template.store_covariance:
            template.covariance_ = [(axes * variances) @ axes.T for axes, variances in spectra]
        template.priors_ = prior_of(arrays, template.priors)
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return the expected squared change of a class's log-density on its rows, first order."""
        typical = layout.unpack(vectors.mean(axis=0))
        k, p = typical["means"].shape
        triangle = typical["log_covariances"].shape[1]
        blocks = [(p, mean_metric(upper, p)) for upper in typical["log_covariances"]]
        blocks += [(triangle, log_metric(p))] * k
        if "log_prior" in typical:
            blocks.append((k, DiagonalMetric(np.ones(k))))
        return BlockMetric(tuple(blocks))

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return estimator.decision_function(X)
