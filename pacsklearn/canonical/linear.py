"""Linear models: weight vectors, of classifiers up to what does not change decisions.

Of regressors, generalised linear models among them, and of one-class models.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from scipy import sparse

from pacsklearn._sklearn_compat import has_log_link, is_multilabel, prepare_for_predict
from pacsklearn.canonical.affine import AffineMap, FoldingCanonicalizer
from pacsklearn.canonical.block_metric import BlockMetric
from pacsklearn.canonical.features import (
    encoding_of,
    member_mean_squares,
    numeric_rows,
    second_moment,
    set_facts,
)
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Constant, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.universe.metrics import DiagonalMetric

SCALE_WEIGHT = 0.01
"""Cost of a relative error of the scale: it changes how sure probabilities look, no decision."""

_LARGEST_LOG_SCALE = 100.0
_KNOWN_PACKAGES = ("sklearn.", "pacsklearn.")


class LinearCanonicalizer(FoldingCanonicalizer):
    """Canonicalizer of a linear model, released as one block of weights ``[coef | intercept]``."""

    def weights(self, estimator: Any) -> tuple[Floats, Floats]:
        """Return the coefficients of shape (outputs, p) and intercepts of shape (outputs,)."""
        coef = estimator.coef_.toarray() if sparse.issparse(estimator.coef_) else estimator.coef_
        coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
        intercept = np.asarray(estimator.intercept_, dtype=np.float64).ravel()
        return coef, np.broadcast_to(intercept, (len(coef),))

    def linear_weights(self, estimator: Any) -> tuple[Floats, Floats] | None:
        if hasattr(estimator, "_get_loss"):
            return None  # generalised linear models predict a function of the decision
        for name in ("predict", "decision_function"):
            method = getattr(type(estimator), name, None)
            if method is not None and not method.__module__.startswith(_KNOWN_PACKAGES):
                return None  # classes that others derive predict whatever they like
        return self.weights(estimator)


@final
class LinearClassifierCanonicalizer(LinearCanonicalizer):
    """Weights ``[coef | intercept]`` of a classifier that decides by ``argmax(X W' + b)``.

    What does not change a decision is removed: a shift common to all classes, and a positive
    scale, taken as the root mean square of the decision function on the subset's own rows. When
    probabilities are asked for, the scale is kept as one more number.

    Parameters
    ----------
    gauge : bool, default=True
        Remove shift and scale. False releases the weights as they are.
    probabilities : bool or "auto", default="auto"
        Keep what ``predict_proba`` needs. "auto" keeps it if the estimator has the method. With
        False a model's probabilities are those of decisions scaled to root mean square one.
    """

    name = "linear_classifier"
    description = "coefficients and intercepts of a linear decision function"
    estimators = (
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        "sklearn.linear_model.LogisticRegression",
        "sklearn.linear_model.LogisticRegressionCV",
        "sklearn.linear_model.PassiveAggressiveClassifier",
        "sklearn.linear_model.Perceptron",
        "sklearn.linear_model.RidgeClassifier",
        "sklearn.linear_model.RidgeClassifierCV",
        "sklearn.linear_model.SGDClassifier",
        "sklearn.svm.LinearSVC",
        "pacsklearn.tabular.StepwiseClassifier",
    )
    noised = ("coef_", "intercept_")
    has_affine_score = True

    def __init__(self, *, gauge: bool = True, probabilities: bool | str = "auto") -> None:
        self.gauge = gauge
        self.probabilities = probabilities

    methods = ("predict", "decision_function", "predict_proba", "predict_log_proba")

    def encode(self, estimator: Any, X: Any) -> Encoding:
        weights = self._without_shift(estimator, X)
        mean_square = 1.0
        if self.gauge:
            decision = numeric_rows(X) @ weights[:, :-1].T + weights[:, -1]
            mean_square = float(np.mean(np.square(decision)))
        return self._encoding(estimator, weights, mean_square)

    def encode_jointly(
        self, models: Sequence[Any], X: Any, space: SecretSpace
    ) -> list[Encoding] | None:
        weights = np.stack([self._without_shift(model, X) for model in models])
        mean_squares = np.ones(len(models))
        if self.gauge:
            mean_squares = member_mean_squares(X, space, weights)
            if not np.all(np.isfinite(mean_squares)):
                return None
        return [
            self._encoding(model, own, float(mean_square))
            for model, own, mean_square in zip(models, weights, mean_squares, strict=True)
        ]

    def _without_shift(self, estimator: Any, X: Any) -> Floats:
        """Return the weights ``[coef | intercept]``, less what is common to all classes."""
        weights = np.column_stack(self.weights(estimator))
        if not self.gauge or weights.shape[0] == 1 or is_multilabel(estimator):
            return weights
        if self._keeps_probabilities(estimator) and not _ignores_shift(estimator, X):
            return weights
        return weights - weights.mean(axis=0)

    def _encoding(self, estimator: Any, weights: Floats, mean_square: float) -> Encoding:
        # Decisions that are all zero have no scale to take out.
        scale = float(np.sqrt(mean_square)) or 1.0
        arrays: dict[str, Any] = {"weights": weights / scale}
        if self.gauge and self._keeps_probabilities(estimator):
            arrays["log_scale"] = float(np.log(scale))
        facts = {"multilabel": True} if is_multilabel(estimator) else {}
        return encoding_of(estimator, arrays, classes_=estimator.classes_, **facts)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        arrays = layout.unpack(vector)
        weights = arrays["weights"]
        if "log_scale" in arrays:
            # The logarithm is noisy: its exponential has to stay a finite weight.
            log_scale = np.clip(arrays["log_scale"], -_LARGEST_LOG_SCALE, _LARGEST_LOG_SCALE)
            weights = weights * np.exp(log_scale)
        set_facts(template, layout)
        template.coef_ = weights[:, :-1].copy()
        template.intercept_ = weights[:, -1].copy()
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return the expected squared change of the decision function on the universe's rows."""
        (n_outputs, length), moment = dict(layout.blocks)["weights"], second_moment(X)
        blocks: list[tuple[int, Metric]] = [(length, moment)] * n_outputs
        if "log_scale" in dict(layout.blocks):
            blocks.append((1, DiagonalMetric(np.array([SCALE_WEIGHT * n_outputs]))))
        return BlockMetric(tuple(blocks))

    def behaviour(self, estimator: Any, X: Any) -> Any:
        if self._keeps_probabilities(estimator):
            return estimator.predict_proba(X)
        decision = estimator.decision_function(X)
        if decision.ndim > 1 and not is_multilabel(estimator):
            decision = decision - decision.mean(axis=1, keepdims=True)
        return decision / (np.sqrt(np.mean(decision**2)) or 1.0)

    def fold(self, estimator: Any, affine: AffineMap) -> Any:
        folded = copy.copy(estimator)
        folded.coef_, folded.intercept_ = affine.pull_back(*self.weights(estimator))
        return folded

    def keeping_scores(self) -> LinearClassifierCanonicalizer:
        return LinearClassifierCanonicalizer(gauge=False, probabilities=self.probabilities)

    def _keeps_probabilities(self, estimator: Any) -> bool:
        if self.probabilities == "auto":
            return hasattr(estimator, "predict_proba")
        return bool(self.probabilities)


def _ignores_shift(estimator: Any, X: Any) -> bool:
    """Return whether probabilities are a softmax, which a shift common to all classes leaves alone.

    Tried on made-up scores: those of real rows may be too large for the shift to show.
    """
    probe, shape = copy.copy(estimator), np.shape(estimator.coef_)
    probe.coef_, scores = np.zeros(shape), np.linspace(-0.5, 0.5, shape[0])
    probabilities = []
    for shift in (0.0, 0.25):
        probe.intercept_ = scores + shift
        probabilities.append(probe.predict_proba(X[:1]))
    return bool(np.allclose(*probabilities))


@final
class LinearRegressorCanonicalizer(LinearCanonicalizer):
    """Weights ``[coef | intercept]`` of a regressor that predicts a function of ``X W' + b``."""

    name = "linear_regressor"
    description = "coefficients and intercept of a linear model"
    estimators = (
        "sklearn.linear_model.ARDRegression",
        "sklearn.linear_model.BayesianRidge",
        "sklearn.linear_model.ElasticNet",
        "sklearn.linear_model.ElasticNetCV",
        "sklearn.linear_model.GammaRegressor",
        "sklearn.linear_model.HuberRegressor",
        "sklearn.linear_model.Lars",
        "sklearn.linear_model.LarsCV",
        "sklearn.linear_model.Lasso",
        "sklearn.linear_model.LassoCV",
        "sklearn.linear_model.LassoLars",
        "sklearn.linear_model.LassoLarsCV",
        "sklearn.linear_model.LassoLarsIC",
        "sklearn.linear_model.LinearRegression",
        "sklearn.linear_model.MultiTaskElasticNet",
        "sklearn.linear_model.MultiTaskElasticNetCV",
        "sklearn.linear_model.MultiTaskLasso",
        "sklearn.linear_model.MultiTaskLassoCV",
        "sklearn.linear_model.OrthogonalMatchingPursuit",
        "sklearn.linear_model.OrthogonalMatchingPursuitCV",
        "sklearn.linear_model.PassiveAggressiveRegressor",
        "sklearn.linear_model.PoissonRegressor",
        "sklearn.linear_model.QuantileRegressor",
        "sklearn.linear_model.Ridge",
        "sklearn.linear_model.RidgeCV",
        "sklearn.linear_model.SGDRegressor",
        "sklearn.linear_model.TheilSenRegressor",
        "sklearn.linear_model.TweedieRegressor",
        "sklearn.svm.LinearSVR",
        "pacsklearn.tabular.StepwiseRegressor",
    )
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
        template.intercept_ = intercept if layout.fact("intercept_ndim") else intercept[0]
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return the expected squared change of the linear predictor on the universe's rows."""
        ((_, (n_outputs, length)),) = layout.blocks
        return BlockMetric(((length, second_moment(X)),) * n_outputs)

    def constant(self, layout: Layout, value: float, template: Any) -> Constant | None:
        ((_, (n_outputs, length)),) = layout.blocks
        weights, slope = np.zeros((n_outputs, length)), 1.0
        if has_log_link(template):
            if value <= 0:
                raise ValueError(
                    f"{type(template).__name__} predicts numbers above zero, and the public "
                    f"prior says {value!r}; expect a number above zero."
                )
            value, slope = float(np.log(value)), value
        weights[:, -1] = value
        return Constant(weights.ravel(), slope)

    def fold(self, estimator: Any, affine: AffineMap) -> Any:
        folded = copy.copy(estimator)
        coef, intercept = affine.pull_back(*self.weights(estimator))
        folded.coef_ = coef[0] if np.ndim(estimator.coef_) == 1 else coef
        folded.intercept_ = intercept if np.ndim(estimator.coef_) > 1 else intercept[0]
        return folded


@final
class LinearOutlierCanonicalizer(Canonicalizer):
    """Weights and offset, up to a positive scale that changes no decision.

    The scale is the root mean square of the decision function on the subset's own rows.
    """

    name = "linear_outlier"
    description = "weights and offset of a linear one-class model"
    estimators = ("sklearn.linear_model.SGDOneClassSVM",)
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
        """Return the expected squared change of the decision function on the universe's rows."""
        return second_moment(X)

    def behaviour(self, estimator: Any, X: Any) -> Any:
        decision = estimator.decision_function(X)
        return decision / (np.sqrt(np.mean(decision**2)) or 1.0)
