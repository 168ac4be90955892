"""Votes and averages of several models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, final

from sklearn.base import is_classifier
from sklearn.preprocessing import LabelEncoder

from pacsklearn.canonical.parts import ListedCanonicalizer
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Constant, Layout


@final
class VotingCanonicalizer(ListedCanonicalizer):
    """Every voter has a canonicalizer of its own; weights are public.

    Parameters
    ----------
    parts : tuple of (str, Canonicalizer)
        Those that are not dropped.
    """

    name = "voting"
    description = "votes and averages of several models"
    estimators = (
        "sklearn.ensemble.VotingClassifier",
        "sklearn.ensemble.VotingRegressor",
    )
    methods = ("predict", "predict_proba", "transform")

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]) -> Self:
        parts = [(name, resolve(voter)) for name, voter in estimator.estimators if voter != "drop"]
        if not _is_hard(estimator):  # averages of scores know their scale; votes do not
            parts = [(name, part.keeping_scores()) for name, part in parts]
        return cls(tuple(parts))

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        self.decode_listed(vector, layout, template)
        if is_classifier(template):
            # From the public classes: nothing is learned here.
            template.le_ = LabelEncoder().fit(layout.fact("classes_"))
        return template

    def constant(self, layout: Layout, value: float, template: Any) -> Constant | None:
        """Return the vector with which every part predicts the value."""
        if is_classifier(template):
            return None
        return self.constant_of_parts(layout, value, dict(template.estimators))

    def behaviour(self, estimator: Any, X: Any) -> Any:
        if is_classifier(estimator) and not _is_hard(estimator):
            return estimator.predict_proba(X)
        return estimator.predict(X)


def _is_hard(estimator: Any) -> bool:
    return is_classifier(estimator) and estimator.voting == "hard"
