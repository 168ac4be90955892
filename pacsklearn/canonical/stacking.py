"""Stacked models: several models, and one that learns from their predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, final

from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression, RidgeCV

from pacsklearn._sklearn_compat import set_stacked, stacked_widths
from pacsklearn.canonical.affine import AffineMap
from pacsklearn.canonical.end_metric import end_metric
from pacsklearn.canonical.parts import (
    ListedCanonicalizer,
    Part,
    PartsCanonicalizer,
    decode_parts,
    encode_parts,
    metric_of_parts,
)
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Constant, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric

_BASES, _FINAL = "estimators", "final_estimator"


@final
class _StackedCanonicalizer(ListedCanonicalizer):
    """The models that are stacked: a transformer of rows into their predictions."""

    methods = ("transform",)

    def encode(self, estimator: Any, X: Any, **facts: Any) -> Encoding:
        widths = stacked_widths(estimator)
        return super().encode(
            estimator, X, **facts, stack_method_=tuple(estimator.stack_method_), n_outputs=widths
        )

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        facts = dict(layout.facts)
        self.decode_listed(vector, layout, template)
        template.stack_method_ = list(facts["stack_method_"])
        set_stacked(template, facts["n_outputs"], facts.get("classes_"))
        return template


@final
class StackingCanonicalizer(PartsCanonicalizer):
    """The stacked models with their scores, and the model that learns from these.

    Parameters
    ----------
    bases : tuple of (str, Canonicalizer)
        Of the stacked models that are not dropped.
    last : Canonicalizer
        Of the final estimator.
    folds : bool
        Whether all stacked models can take over an affine step before them, and the final
        estimator does not see the rows themselves.
    """

    name = "stacking"
    description = "several models and one that learns from their predictions"
    estimators = (
        "sklearn.ensemble.StackingClassifier",
        "sklearn.ensemble.StackingRegressor",
    )
    is_linear = False

    def __init__(
        self, bases: tuple[tuple[str, Canonicalizer], ...], last: Canonicalizer, *, folds: bool
    ) -> None:
        self.bases, self.last = _StackedCanonicalizer(bases), last
        super().__init__(((_BASES, self.bases), (_FINAL, last)))
        self.folds, self.methods = folds, (*last.methods, "transform")
        self.noised = (*self.bases.noised, *(f"{_FINAL}: {what}" for what in last.noised))

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]) -> Self:
        # The final estimator reads scores as they are: their scale is no gauge.
        bases = tuple(
            (name, resolve(base).keeping_scores())
            for name, base in estimator.estimators
            if base != "drop"
        )
        folds = not estimator.passthrough and all(part.folds for _, part in bases)
        return cls(bases, resolve(_blank_final(estimator)), folds=folds)

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return encode_parts(self.fitted_parts(estimator, X))

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        blanks = {_BASES: template, _FINAL: _blank_final(template)}
        decoded = decode_parts(vector, layout, dict(self.parts), blanks)
        decoded[_BASES].final_estimator_ = decoded[_FINAL]
        return decoded[_BASES]

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return the expected squared change of the final estimator's outputs.

        Each model's own where the final estimator is not linear.
        """
        steps = self.fitted_parts(estimator, X)
        at_end = end_metric(steps, layout, X, vectors)
        return metric_of_parts(steps, layout, vectors) if at_end is None else at_end

    def constant(self, layout: Layout, value: float, template: Any) -> Constant | None:
        """Return vector with which the final estimator predicts the value, whatever it is told."""
        if not is_regressor(template):
            return None
        child = layout.children[-1][1]
        constant = self.last.constant(child, value, _blank_final(template))
        return None if constant is None else constant.behind(layout.size - child.size)

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return self.last.behaviour(estimator.final_estimator_, estimator.transform(X))

    def fold(self, estimator: Any, affine: AffineMap) -> Any:
        return self.bases.fold(estimator, affine)

    def fitted_parts(self, estimator: Any, X: Any) -> list[Part]:
        final = Part(_FINAL, self.last, estimator.final_estimator_, estimator.transform(X))
        return [Part(_BASES, self.bases, estimator, X), final]


def _blank_final(estimator: Any) -> Any:
    """Return an unfitted final estimator; scikit-learn's where none was given."""
    if estimator.final_estimator is not None:
        return clone(estimator.final_estimator)
    return LogisticRegression() if is_classifier(estimator) else RidgeCV()
