"""Several classes by several binary classifiers, several targets by several models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, final

import numpy as np
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.preprocessing import LabelBinarizer

from pacsklearn._sklearn_compat import constant_predictor, set_classes
from pacsklearn.canonical.features import feature_facts, set_facts
from pacsklearn.canonical.parts import Part, PartsCanonicalizer, decode_parts, encode_parts
from pacsklearn.canonical.stateless import zero_rows
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Constant, Encoding, Layout


@final
class MulticlassCanonicalizer(PartsCanonicalizer):
    """One-vs-rest, one-vs-one and output codes, and one model a target.

    Parameters
    ----------
    part : Canonicalizer
        Of each binary classifier. It has to keep scores: they are compared with one another.
    """

    name = "multiclass"
    description = "one model a class, a pair of classes or a target"
    estimators = (
        "sklearn.multiclass.OneVsOneClassifier",
        "sklearn.multiclass.OneVsRestClassifier",
        "sklearn.multiclass.OutputCodeClassifier",
        "sklearn.multioutput.MultiOutputClassifier",
        "sklearn.multioutput.MultiOutputRegressor",
    )
    methods = ("predict", "predict_proba", "decision_function")

    def __init__(self, part: Canonicalizer) -> None:
        super().__init__((("estimators_", part),))
        self.part, self.folds = part, part.folds

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]) -> Self:
        return cls(resolve(estimator.estimator).keeping_scores())

    def encode(self, estimator: Any, X: Any) -> Encoding:
        facts: dict[str, Any] = {}
        if hasattr(estimator, "classes_"):
            facts["classes_"] = _classes(estimator.classes_)
        if isinstance(estimator, OneVsRestClassifier):
            facts["multilabel"] = bool(estimator.multilabel_)
        if hasattr(estimator, "code_book_"):  # drawn with a public seed
            facts["code_book_"] = estimator.code_book_
        return encode_parts(self.fitted_parts(estimator, X), **facts, **feature_facts(estimator))

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        names = dict(layout.children)
        parts, blanks = (dict.fromkeys(names, one) for one in (self.part, template.estimator))
        decoded = decode_parts(vector, layout, parts, blanks)
        facts = dict(layout.facts)
        template.estimators_ = [
            decoded.get(str(i)) or constant_predictor(zero_rows(layout), column[0])
            for i, column in enumerate(facts.get("code_book_", np.empty((1, len(decoded)))).T)
        ]
        # Where it is a property, the parts are asked.
        if not isinstance(getattr(type(template), "n_features_in_", None), property):
            set_facts(template, layout)
        classes: Any = facts.get("classes_")
        if isinstance(template, OneVsRestClassifier):
            labels: Any = np.eye(len(classes), dtype=np.int64) if facts["multilabel"] else classes
            template.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(labels)
        if isinstance(classes, tuple):
            template.classes_ = [np.array(labels) for labels in classes]
        elif classes is not None:
            set_classes(template, classes)
        if isinstance(template, OneVsOneClassifier):
            template.pairwise_indices_ = None
        if "code_book_" in facts:
            template.code_book_ = facts["code_book_"]
        return template

    def part_of(self, name: str) -> Canonicalizer:
        return self.part

    def constant(self, layout: Layout, value: float, template: Any) -> Constant | None:
        """Return the vector with which every part predicts the value."""
        blanks = dict.fromkeys(dict(layout.children), template.estimator)
        return self.constant_of_parts(layout, value, blanks)

    def behaviour(self, estimator: Any, X: Any) -> Any:
        scored = hasattr(estimator, "decision_function")
        return estimator.decision_function(X) if scored else estimator.predict(X)

    def fitted_parts(self, estimator: Any, X: Any) -> list[Part]:
        # A column of the code book, which is public, may hold one value: nothing is learned there.
        columns = getattr(estimator, "code_book_", None)
        return [
            Part(str(i), self.part, fitted, X)
            for i, fitted in enumerate(estimator.estimators_)
            if columns is None or np.ptp(columns[:, i])
        ]


def _classes(classes: Any) -> Any:
    """Return the classes of one target as they are, of several as a tuple."""
    return tuple(map(tuple, classes)) if isinstance(classes, list) else classes
