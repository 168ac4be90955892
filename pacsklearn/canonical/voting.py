"""Votes and averages of several models."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self, final

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.preprocessing import LabelEncoder

from pacsklearn.canonical.affine import AffineMap, FoldingCanonicalizer
from pacsklearn.canonical.parts import (
    Part,
    PartsCanonicalizer,
    constant_of_parts,
    decode_listed,
    encode_parts,
)
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Constant, Encoding, Layout


@final
class VotingCanonicalizer(PartsCanonicalizer, FoldingCanonicalizer):
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

    def __init__(self, parts: tuple[tuple[str, Canonicalizer], ...]) -> None:
        super().__init__(parts)
        self.folds = all(part.folds for _, part in parts)

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]) -> Self:
        parts = [(name, resolve(voter)) for name, voter in estimator.estimators if voter != "drop"]
        if not _is_hard(estimator):  # averages of scores know their scale; votes do not
            parts = [(name, part.keeping_scores()) for name, part in parts]
        return cls(tuple(parts))

    def encode(self, estimator: Any, X: Any) -> Encoding:
        facts = {"classes_": estimator.classes_} if is_classifier(estimator) else {}
        names = getattr(estimator, "feature_names_in_", None)
        if names is not None:
            facts["feature_names_in_"] = np.array(names)
        return encode_parts(self.fitted_parts(estimator, X), **facts)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        decode_listed(vector, layout, self.parts, template)
        if is_classifier(template):
            # From the public classes: nothing is learned here.
            template.le_ = LabelEncoder().fit(layout.fact("classes_"))
        return template

    def constant(self, layout: Layout, value: float, template: Any) -> Constant | None:
        """Return the vector with which every part predicts the value."""
        if is_classifier(template):
            return None
        voters, blanks = dict(self.parts), dict(template.estimators)
        constants = [
            voters[name].constant(child, value, clone(blanks[name]))
            for name, child in layout.children
        ]
        return constant_of_parts(constants)

    def behaviour(self, estimator: Any, X: Any) -> Any:
        if is_classifier(estimator) and not _is_hard(estimator):
            return estimator.predict_proba(X)
        return estimator.predict(X)

    def fold(self, estimator: Any, affine: AffineMap) -> Any:
        folded = copy.copy(estimator)
        folded.estimators_ = [
            part.fold(fitted, affine)  # type: ignore[attr-defined]
            for (_, part), fitted in zip(self.parts, estimator.estimators_, strict=True)
        ]
        return folded

    def fitted_parts(self, estimator: Any, X: Any) -> list[Part]:
        fitted = zip(self.parts, estimator.estimators_, strict=True)
        return [Part(name, part, model, X) for (name, part), model in fitted]


def _is_hard(estimator: Any) -> bool:
    return is_classifier(estimator) and estimator.voting == "hard"
