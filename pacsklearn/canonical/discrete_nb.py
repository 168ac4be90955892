"""Naive Bayes on counts, bits and public categories: log-probabilities of features by class."""

from __future__ import annotations

from typing import Any, ClassVar, Self, final

import numpy as np
from scipy.special import log_expit
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from pacsklearn.canonical.features import encoding_of, set_facts
from pacsklearn.canonical.log_domain import log_simplex
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.universe.metrics import DiagonalMetric

# Beyond it a probability is one in double precision.
_LARGEST_LOGIT = 30.0


def _learns_prior(estimator: Any) -> bool:
    if isinstance(estimator, ComplementNB):
        return False  # complement weights have no use for one
    return bool(estimator.fit_prior) and estimator.class_prior is None


@final
class DiscreteNBCanonicalizer(Canonicalizer):
    """Logarithms of the features' probabilities (logits for bits) and of the class priors.

    Multinomial probabilities sum to one again after noise. The weights of ``ComplementNB`` are
    those of a linear model: any are valid, and a shift common to all classes is removed.
    Priors that are a parameter, or uniform, are public.
    """

    name = "discrete_nb"
    description = "log-probabilities of counts or bits for each class"
    estimators = (
        "sklearn.naive_bayes.BernoulliNB",
        "sklearn.naive_bayes.ComplementNB",
        "sklearn.naive_bayes.MultinomialNB",
    )
    methods = ("predict", "predict_proba", "predict_log_proba")
    noised = ("feature_log_prob_", "class_log_prior_")
    noised_if: ClassVar = {"class_log_prior_": _learns_prior}

    def encode(self, estimator: Any, X: Any) -> Encoding:
        weights = estimator.feature_log_prob_
        if isinstance(estimator, BernoulliNB):
            weights = weights - np.log1p(-np.exp(weights))
        elif not isinstance(estimator, MultinomialNB):
            weights = weights - weights.mean(axis=0)
        arrays = {"weights": weights}
        if _learns_prior(estimator):
            arrays["log_prior"] = estimator.class_log_prior_
        return encoding_of(estimator, arrays, classes_=estimator.classes_)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        arrays, classes = layout.unpack(vector), layout.fact("classes_")
        set_facts(template, layout)
        weights = arrays["weights"]
        if isinstance(template, BernoulliNB):
            weights = log_expit(np.clip(weights, -_LARGEST_LOGIT, _LARGEST_LOGIT))
        elif isinstance(template, MultinomialNB):
            weights = log_simplex(weights)
        template.feature_log_prob_ = weights
        template.class_log_prior_ = _log_prior(arrays, template, len(classes))
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return mean square of each feature: the expected squared change of a class's score."""
        k, p = dict(layout.blocks)["weights"]
        squares = X.multiply(X) if hasattr(X, "multiply") else np.square(np.asarray(X, dtype=float))
        if isinstance(estimator, BernoulliNB):
            squares = np.ones((1, p))
        size = np.asarray(squares.mean(axis=0), dtype=np.float64).ravel()
        weights = {"weights": np.broadcast_to(size, (k, p)), "log_prior": np.ones(k)}
        return DiagonalMetric(layout.pack(weights))

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return estimator.predict_proba(X)


def _log_prior(arrays: dict[str, Floats], estimator: Any, n_classes: int) -> Floats:
    """Take the noised log-priors out; those that are a parameter, or uniform, where none are."""
    if "log_prior" in arrays:
        return log_simplex(arrays.pop("log_prior"))
    given = getattr(estimator, "class_prior", None)
    return np.full(n_classes, -np.log(n_classes)) if given is None else np.log(given)


@final
class CategoricalNBCanonicalizer(Canonicalizer):
    """Log-probabilities of every category of every feature for each class, and of the classes.

    How many categories a feature has must be public: ``min_categories`` has to be given, and no
    row may go beyond it.
    """

    name = "categorical_nb"
    description = "log-probabilities of public categories for each class"
    estimators = ("sklearn.naive_bayes.CategoricalNB",)
    methods = ("predict", "predict_proba", "predict_log_proba")
    noised = ("feature_log_prob_", "class_log_prior_")
    noised_if: ClassVar = {"class_log_prior_": _learns_prior}

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> Self:
        if estimator.min_categories is None:
            raise NoCanonicalizerError(
                f"{type(estimator).__name__} learns from the rows how many categories a feature "
                "has, which cannot be noised; give min_categories, chosen without looking at them."
            )
        return cls()

    def encode(self, estimator: Any, X: Any) -> Encoding:
        if np.any(estimator.n_categories_ != estimator.min_categories):
            raise ValueError("a row has a category beyond min_categories; give a larger one")
        arrays = {f"feature {i}": table for i, table in enumerate(estimator.feature_log_prob_)}
        if _learns_prior(estimator):
            arrays["log_prior"] = estimator.class_log_prior_
        return encoding_of(
            estimator,
            arrays,
            classes_=estimator.classes_,
            n_categories_=np.array(estimator.n_categories_),
        )

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        arrays, classes = layout.unpack(vector), layout.fact("classes_")
        set_facts(template, layout)
        template.n_categories_ = layout.fact("n_categories_")
        # Counts are not released, but predict looks how many there are.
        template.class_count_ = np.full(len(classes), np.nan)
        template.class_log_prior_ = _log_prior(arrays, template, len(classes))
        template.feature_log_prob_ = [log_simplex(table) for table in arrays.values()]
        return template

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return estimator.predict_proba(X)
