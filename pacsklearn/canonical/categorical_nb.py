"""Categorical naive Bayes over public categories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from pacsklearn._sklearn_compat import set_classes
from pacsklearn.canonical.discrete_nb import public_log_prior
from pacsklearn.canonical.features import feature_facts, set_features
from pacsklearn.canonical.log_domain import log_simplex
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.information.arrays import Floats


@final
class CategoricalNBCanonicalizer(Canonicalizer):
    """Log-probabilities of every category of every feature for each class, and of the classes.

    How many categories a feature has must be public: ``min_categories`` has to be given, and no
    row may go beyond it.
    """

    methods = ("predict", "predict_proba", "predict_log_proba")
    noised = ("feature_log_prob_", "class_log_prior_ (learned)")

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]
    ) -> CategoricalNBCanonicalizer:
        if estimator.min_categories is None:
            raise NoCanonicalizerError(
                f"{type(estimator).__name__} learns from the rows how many categories a feature "
                "has, which cannot be noised; give min_categories, chosen without looking at them."
            )
        return cls()

    def encode(self, estimator: Any, X: Any) -> Encoding:
        if np.any(estimator.n_categories_ != estimator.min_categories):
            raise ValueError("a row has a category beyond min_categories")
        arrays = {f"feature {i}": table for i, table in enumerate(estimator.feature_log_prob_)}
        if estimator.fit_prior and estimator.class_prior is None:
            arrays["log_prior"] = estimator.class_log_prior_
        layout = Layout.of(
            arrays,
            classes_=estimator.classes_,
            n_categories_=np.array(estimator.n_categories_),
            **feature_facts(estimator),
        )
        return Encoding(layout.pack(arrays), layout)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        arrays, classes = layout.unpack(vector), layout.fact("classes_")
        set_classes(template, classes)
        set_features(template, layout)
        template.n_categories_ = layout.fact("n_categories_")
        # Counts are not released, but predict looks how many there are.
        template.class_count_ = np.full(len(classes), np.nan)
        template.class_log_prior_ = public_log_prior(template, len(classes))
        if "log_prior" in arrays:
            template.class_log_prior_ = log_simplex(arrays.pop("log_prior"))
        template.feature_log_prob_ = [log_simplex(table) for table in arrays.values()]
        return template

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return estimator.predict_proba(X)
