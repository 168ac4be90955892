"""What is public about a forest: how many trees, how deep, and which feature each level asks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn.kernel.bounds.arrays import Floats

Integers = NDArray[np.intp]

_DEEPEST = 10


@final
@dataclass(frozen=True, eq=False)
class ForestStructure:
    """Complete trees of one depth, a feature for each level of each tree.

    Nodes are numbered level by level, from left to right; node ``i`` has the children ``2 i + 1``
    and ``2 i + 2``.

    Parameters
    ----------
    order : ndarray of shape (n_trees, depth)
        Feature of each level.
    units : ndarray of shape (n_trees, 2**depth - 1)
        Random thresholds in units of the feature's range, -1 its lower end and 1 its upper end.
    """

    order: Integers
    units: Floats

    @property
    def depth(self) -> int:
        """Questions on the way to a leaf."""
        return int(self.order.shape[1])

    @property
    def features(self) -> Integers:
        """Feature of each inner node; shape (n_trees, 2**depth - 1)."""
        return np.repeat(self.order, 2 ** np.arange(self.depth), axis=1)


def forest_structure(estimator: Any, n_features: int) -> ForestStructure:
    """Return the structure by the parameters of ``estimator`` and the number of features alone.

    Parameters
    ----------
    estimator : FixedStructureForestClassifier or FixedStructureForestRegressor
    n_features : int
    """
    n_trees = check_integer(name="n_estimators", value=estimator.n_estimators, minimum=1)
    depth = check_integer(name="depth", value=estimator.depth, minimum=1)
    if depth > _DEEPEST:
        raise ValueError(
            f"depth must be at most {_DEEPEST}, got {depth}: a complete tree doubles with each "
            "level, and so does the noise. Use more trees instead."
        )
    seed = check_integer(name="random_state", value=estimator.random_state, minimum=0)
    return ForestStructure(*_random_structure(n_trees, depth, n_features, seed))


def descend(X: Floats, features: Integers, thresholds: Floats) -> Integers:
    """Return the leaf that each row reaches in each tree; shape (n_rows, n_trees).

    A row goes to the right where its feature is above the threshold.
    """
    n_trees, n_nodes = features.shape
    trees = np.arange(n_trees)
    node = np.zeros((X.shape[0], n_trees), dtype=np.intp)
    first = 0
    while first < n_nodes:  # all nodes of a level ask about the feature of its first
        above = X[:, features[:, first]] > thresholds[trees, node]
        node = 2 * node + 1 + above
        first = 2 * first + 1
    return np.asarray(node - n_nodes)


@lru_cache(maxsize=16)
def _random_structure(
    n_trees: int, depth: int, n_features: int, seed: int
) -> tuple[Integers, Floats]:
    """Return the features and thresholds that all candidates have in common."""
    generator = np.random.RandomState(seed)
    order = _random_order(generator, n_trees, depth, n_features)
    # Mostly in the middle, where rows are.
    units = generator.triangular(-1.0, 0.0, 1.0, size=(n_trees, 2**depth - 1))
    order.setflags(write=False)
    units.setflags(write=False)
    return order, units


def _random_order(
    generator: np.random.RandomState, n_trees: int, depth: int, n_features: int
) -> Integers:
    """Return random features, each equally often, and not twice in a tree if avoidable."""
    used = np.zeros(n_features, dtype=int)
    order = np.empty((n_trees, depth), dtype=np.intp)
    for tree in range(n_trees):
        here = np.zeros(n_features, dtype=int)
        for level in range(depth):
            chosen = np.lexsort((generator.uniform(size=n_features), used, here))[0]
            order[tree, level] = chosen
            here[chosen] += 1
        used += here
    return order
