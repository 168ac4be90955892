"""The algorithms of the study, how they are scored, and how they were published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.svm import LinearSVC
from study_data import StudyData
from study_releases import Candidates, Scorer

from pacsklearn.canonical.linear import LinearClassifierCanonicalizer
from pacsklearn.plugins import Canonicalizer, Encoding, Layout
from pacsklearn.tabular import FixedStructureForestClassifier


class LeafLabels(Canonicalizer):
    """A forest as it was published: thresholds, and in each leaf the number of a class.

    The number is noised and rounded. Where all candidates agree on a label it is constant and
    needs no noise, which tells nothing about the secret, but is no estimate of anything either.
    """

    def encode(self, estimator: Any, X: Any) -> Encoding:
        arrays = {
            "thresholds": estimator.thresholds_,
            "labels": estimator.leaf_values_.argmax(axis=-1),
        }
        facts = {"features_": estimator.features_, "classes_": estimator.classes_}
        layout = Layout.of(arrays, n_features_in_=estimator.n_features_in_, **facts)
        return Encoding(layout.pack(arrays), layout)

    def decode(self, vector: Any, layout: Layout, template: Any) -> Any:
        arrays = layout.unpack(vector)
        template.features_, template.classes_ = layout.fact("features_"), layout.fact("classes_")
        template.n_features_in_ = layout.fact("n_features_in_")
        template.thresholds_ = arrays["thresholds"]
        n_classes = template.classes_.size
        labels = np.clip(np.rint(arrays["labels"]), 0, n_classes - 1).astype(int)
        template.leaf_values_ = np.eye(n_classes)[labels]
        return template

    def behaviour(self, estimator: Any, X: Any) -> Any:
        votes = np.eye(estimator.classes_.size)[estimator.leaf_values_.argmax(axis=-1)]
        leaves = estimator.apply(X)
        return votes[np.arange(leaves.shape[1]), leaves].mean(axis=1)


@dataclass(frozen=True)
class Algorithm:
    """One line of figures.

    ``published`` is the canonicalizer of the published method, "auto" where it is ours too;
    ``rising`` says whether more is better.
    """

    key: str
    title: str
    make: Callable[[StudyData], Any]
    published: Any = "auto"
    rising: bool = True


def _forest(**parameters: Any) -> Callable[[StudyData], Any]:
    def make(data: StudyData) -> Any:
        trees = 1 if data.n_features < 5 else 3
        return FixedStructureForestClassifier(
            **(
                {
                    "n_estimators": trees,
                    "depth": 3,
                    "feature_range": (-2.5, 2.5),
                    "class_weight": None,
                }
                | parameters
            )
        )

    return make


_SVM = LinearClassifierCanonicalizer(gauge=False)
_PLAIN = {"step": 0.02, "smoothing": 0.0, "penalty": 0.0, "prior_count": 0.0, "leaves": "votes"}
_REGULARISED = {
    "step": 0.1,
    "smoothing": 0.33,
    "penalty": 0.15,
    "prior_count": 20.0,
    "leaves": "votes",
}

ALGORITHMS = (
    Algorithm("kmeans", "K-Means", lambda data: KMeans(data.n_classes, n_init=3)),
    Algorithm("svm", "SVM, C = 1", lambda _: LinearSVC(C=1), _SVM),
    Algorithm("svm_reg", "SVM, C = 0.05", lambda _: LinearSVC(C=0.05), _SVM),
    Algorithm("pca1", "PCA, 1 component", lambda _: PCA(1), rising=False),
    Algorithm(
        "pca_more",
        "PCA, more components",
        lambda data: PCA(min(6, data.n_features - 1)),
        rising=False,
    ),
    Algorithm("forest", "Forest, plain", _forest(**_PLAIN), LeafLabels()),
    Algorithm("forest_reg", "Forest, regularised", _forest(**_REGULARISED), LeafLabels()),
    Algorithm(
        "forest_random",
        "Forest, random thresholds",
        _forest(n_estimators=30, depth=2, thresholds="random", class_weight="balanced"),
    ),
)


def scorer_of(algorithm: Algorithm, data: StudyData, candidates: Candidates) -> Scorer:
    """Accuracy or restoration error on the held-out rows."""
    if not algorithm.rising:
        size = np.linalg.norm(data.X_test - data.X.mean(axis=0))

        def restoration(model: Any) -> float:
            restored = model.inverse_transform(model.transform(data.X_test))
            return float(np.linalg.norm(restored - data.X_test) / size)

        return restoration
    if algorithm.key == "kmeans":
        # Clusters get the names of classes once, by the candidates' mean; the scorer's business.
        named = candidates.decode(candidates.support.mean).predict(data.X)
        table = np.zeros((data.n_classes, data.n_classes))
        np.add.at(table, (named, data.y), 1)
        names = linear_sum_assignment(-table)[1]
        return lambda model: float(np.mean(names[model.predict(data.X_test)] == data.y_test))
    return lambda model: float(model.score(data.X_test, data.y_test))
