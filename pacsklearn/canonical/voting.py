"""Votes and averages of several models."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self, final

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.preprocessing import LabelEncoder

from pacsklearn.canonical.affine import AffineMap, FoldingCanonicalizer, can_fold
from pacsklearn.canonical.parts import (
    Part,
    align_parts,
    constant_of_parts,
    decode_listed,
    encode_parts,
    metric_of_parts,
)
from pacsklearn.canonical.pipeline import keeping_scores
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.core.metric import Metric
from pacsklearn.core.public_prior import Constant
from pacsklearn.information.arrays import Floats


@final
class VotingCanonicalizer(FoldingCanonicalizer):
    """Every voter has a canonicalizer of its own; weights are public.

    Parameters
    ----------
    voters : tuple of (str, Canonicalizer)
        Those that are not dropped.
    """

    methods = ("predict", "predict_proba", "transform")

    def __init__(self, voters: tuple[tuple[str, Canonicalizer], ...]) -> None:
        self.voters = voters
        self.noised = tuple(f"{name}: {what}" for name, part in voters for what in part.noised)
        self.is_searched = any(part.is_searched for _, part in voters)
        self.folds = all(can_fold(part) for _, part in voters)

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]) -> Self:
        # Averages of scores know their scale; votes do not.
        keep = (lambda part: part) if _is_hard(estimator) else keeping_scores
        return cls(
            tuple(
                (name, keep(resolve(voter)))
                for name, voter in estimator.estimators
                if voter != "drop"
            )
        )

    def encode(self, estimator: Any, X: Any) -> Encoding:
        facts = {"classes_": estimator.classes_} if is_classifier(estimator) else {}
        names = getattr(estimator, "feature_names_in_", None)
        if names is not None:
            facts["feature_names_in_"] = np.array(names)
        return encode_parts(self._parts(estimator, X), **facts)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        decode_listed(vector, layout, self.voters, template)
        if is_classifier(template):
            # From the public classes: nothing is learned here.
            template.le_ = LabelEncoder().fit(layout.fact("classes_"))
        return template

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        return align_parts(vectors, layout, dict(self.voters))

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Each voter's own."""
        return metric_of_parts(self._parts(estimator, X), layout, vectors)

    def constant(self, layout: Layout, value: float, template: Any) -> Constant | None:
        """Every part predicts it."""
        if is_classifier(template):
            return None
        voters, blanks = dict(self.voters), dict(template.estimators)
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
            for (_, part), fitted in zip(self.voters, estimator.estimators_, strict=True)
        ]
        return folded

    def _parts(self, estimator: Any, X: Any) -> list[Part]:
        fitted = dict(zip(dict(self.voters), estimator.estimators_, strict=True))
        return [Part(name, part, fitted[name], X) for name, part in self.voters]


def _is_hard(estimator: Any) -> bool:
    return is_classifier(estimator) and estimator.voting == "hard"
