"""K-Means: cluster centres in a common order, or in a tree of pairs."""

from __future__ import annotations

from typing import Any, TypeAlias, final

import numpy as np
from scipy import sparse

from pacsklearn._sklearn_compat import plant_bisecting_tree, prepare_for_predict
from pacsklearn.canonical.assignment import in_mean_order
from pacsklearn.canonical.features import encoding_of, set_facts
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout


@final
class KMeansCanonicalizer(Canonicalizer):
    """Cluster centres; names of clusters are exchangeable and ordered by optimal assignment."""

    name = "kmeans"
    description = "cluster centres in an agreed order"
    estimators = (
        "sklearn.cluster.KMeans",
        "sklearn.cluster.MiniBatchKMeans",
    )
    methods = ("predict", "transform")
    noised = ("cluster_centers_",)
    reads_rows = False

    def encode(self, estimator: Any, X: Any) -> Encoding:
        # Compiled code compares rows and centres of one precision only.
        precision = str(estimator.cluster_centers_.dtype)
        return encoding_of(estimator, {"centres": estimator.cluster_centers_}, dtype=precision)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        centres = layout.unpack(vector)["centres"].astype(layout.fact("dtype"))
        prepare_for_predict(template, n_outputs=len(centres))
        set_facts(template, layout)
        template.cluster_centers_ = centres
        return template

    align = staticmethod(in_mean_order)

    def behaviour(self, estimator: Any, X: Any) -> Any:
        """Return how far each row is from its centre, whichever of equally near ones that is."""
        rows = X.toarray() if sparse.issparse(X) else np.asarray(X)
        return np.linalg.norm(rows - estimator.cluster_centers_[estimator.predict(X)], axis=1)


Shape: TypeAlias = tuple[Any, ...]  # () for a leaf, (left, right) for a pair


@final
class BisectingKMeansCanonicalizer(Canonicalizer):
    """The two centres of every bisection; a row goes down the tree to the nearer one.

    The tree's shape cannot be noised, so it must be the same for every subset: it is for two and
    three clusters, and rarely for many more. Branches are exchangeable: the larger comes first,
    and equal ones are ordered by an optimal assignment.
    """

    name = "bisecting_kmeans"
    description = "a tree of pairs of centres in an agreed order"
    estimators = ("sklearn.cluster.BisectingKMeans",)
    methods = ("predict", "transform")
    noised = ("cluster_centers_", "centres of the bisections")

    def encode(self, estimator: Any, X: Any) -> Encoding:
        shape, pairs = _read(estimator._bisecting_tree)
        width = estimator.cluster_centers_.shape[1]
        centres = np.array(pairs, dtype=np.float64).reshape(-1, 2, width)
        arrays = {"centres": centres + getattr(estimator, "_X_mean", 0.0)}
        if not shape:
            arrays = {"root": np.array(estimator.cluster_centers_, dtype=np.float64)}
        precision = str(estimator.cluster_centers_.dtype)
        return encoding_of(estimator, arrays, bisection_tree=shape, dtype=precision)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        ((name, _),) = layout.blocks
        centres = layout.unpack(vector)[name].astype(layout.fact("dtype"))
        set_facts(template, layout)
        plant_bisecting_tree(template, layout.fact("bisection_tree"), centres)
        prepare_for_predict(template, n_outputs=len(template.cluster_centers_))
        return template

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        tree, ((_, shape),) = layout.fact("bisection_tree"), layout.blocks
        if not tree:
            return vectors
        pairs = vectors.reshape(-1, *shape)
        reference = _arranged(tree, pairs[0], pairs.mean(axis=0))[1]
        return np.stack([_arranged(tree, one, reference)[1].ravel() for one in pairs])

    def behaviour(self, estimator: Any, X: Any) -> Any:
        """Return the centre each row belongs to, whatever its name."""
        return estimator.cluster_centers_[estimator.predict(X)]


def _read(node: Any) -> tuple[Shape, list[Any]]:
    """Return the shape of a fitted tree, and its pairs of centres from the root down."""
    if node.left is None:
        return (), []
    branches = [(*_read(child), child.center) for child in (node.left, node.right)]
    if _larger(branches[1][0], branches[0][0]):
        branches.reverse()
    (left, below_left, first), (right, below_right, second) = branches
    return (left, right), [(first, second), *below_left, *below_right]


def _pairs(shape: Shape) -> int:
    return 1 + _pairs(shape[0]) + _pairs(shape[1]) if shape else 0


def _larger(one: Shape, other: Shape) -> bool:
    return (_pairs(one), repr(one)) > (_pairs(other), repr(other))


def _arranged(shape: Shape, pairs: Floats, reference: Floats) -> tuple[float, Floats]:
    """Return the pairs with equal branches swapped so that they are closest to the reference."""
    if not shape:
        return 0.0, pairs
    middle = 1 + _pairs(shape[0])
    branches = [(0, pairs[1:middle]), (1, pairs[middle:])]
    best: tuple[float, Floats] | None = None
    for order in (branches, branches[::-1]) if shape[0] == shape[1] else (branches,):
        head = pairs[0, [side for side, _ in order]]
        cost = float(np.sum((head - reference[0]) ** 2))
        left = _arranged(shape[0], order[0][1], reference[1:middle])
        right = _arranged(shape[1], order[1][1], reference[middle:])
        cost += left[0] + right[0]
        if best is None or cost < best[0]:
            best = cost, np.concatenate([head[None], left[1], right[1]])
    assert best is not None
    return best
