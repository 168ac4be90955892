"""All candidates' trees at once: forests, boosters and forests of public structure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.utils import check_array

from pacsklearn._sklearn_compat import histogram_booster, histogram_values, initial_raw_prediction
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.batch_predictor import BatchPredictor
from pacsklearn.tabular.forests.classifier import FixedStructureForestClassifier
from pacsklearn.tabular.forests.fixed_structure_forest import FixedStructureForest
from pacsklearn.tabular.forests.regressor import FixedStructureForestRegressor
from pacsklearn_trees.tree_kernel import APART, BLOCK, lay_out, tree_sums

_FORESTS = (
    RandomForestClassifier,
    ExtraTreesClassifier,
    RandomForestRegressor,
    ExtraTreesRegressor,
)
_BOOSTERS = (GradientBoostingClassifier, GradientBoostingRegressor)
_HISTOGRAMS = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
_FIXED = (FixedStructureForestClassifier, FixedStructureForestRegressor)
# Nodes of all trees, beyond which a second copy of them takes too much memory.
_MOST_NODES = 2**25
# What one level of a row's way down a tree costs, in nodes that a row is moved past; each of these
# costs as much as that many rows by itself.
_LOOKING, _BEGINNING = 65, 450
# Nodes of a tree in which a place takes two bytes.
_MOST_PASSED = 2**16
_LEAST_RANKS = 2**16 - 1  # of one type, for which a loop is compiled once


class _Tree(NamedTuple):
    """Nodes of one tree; a leaf has no left child."""

    left: NDArray[Any]
    right: NDArray[Any]
    feature: NDArray[Any]
    threshold: Floats
    values: Floats
    model: int
    column: int


@final
@dataclass(frozen=True, eq=False)
class StackedForest(BatchPredictor):
    """Sums over the trees of m models, taken in one pass over the rows.

    Parameters
    ----------
    models : tuple of m fitted estimators
    start : ndarray of shape (m, outputs)
        What each model's sum begins with.
    precision : dtype
        What rows are converted to before they are compared with thresholds.
    layout : tuple of ndarray
        What :func:`pacsklearn_trees.tree_kernel.tree_sums` takes between rows and ``passing``.
    ranks : dtype
        Counts the cuts of any feature.
    passing_from : float
        Number of rows from which on it costs less to move all of them past each node.
    """

    name = "stacked_forest"
    description = "trees of all candidates in one pass over the rows"
    estimators = (
        "sklearn.ensemble.RandomForestClassifier",
        "sklearn.ensemble.RandomForestRegressor",
        "sklearn.ensemble.ExtraTreesClassifier",
        "sklearn.ensemble.ExtraTreesRegressor",
        "sklearn.ensemble.GradientBoostingClassifier",
        "sklearn.ensemble.GradientBoostingRegressor",
        "sklearn.ensemble.HistGradientBoostingClassifier",
        "sklearn.ensemble.HistGradientBoostingRegressor",
        "pacsklearn.tabular.FixedStructureForestClassifier",
        "pacsklearn.tabular.FixedStructureForestRegressor",
    )
    models: tuple[Any, ...] = field(repr=False)
    start: Floats = field(repr=False)
    precision: Any
    layout: tuple[NDArray[Any], ...] = field(repr=False)
    ranks: Any
    passing_from: float

    @classmethod
    def of(cls, models: tuple[Any, ...]) -> StackedForest | None:
        first = models[0]
        if any(type(model) is not type(first) for model in models):
            return None
        if is_classifier(first) and any(
            not np.array_equal(model.classes_, first.classes_) for model in models
        ):
            return None
        if type(first) in _FORESTS and not any(model.n_outputs_ > 1 for model in models):
            return _laid_out(models, _forest_trees, np.float32, _columns(first))
        # A start that is fitted, or learns from other features, is asked by the model itself.
        if type(first) in _BOOSTERS and first.init in (None, "zero"):
            starts = np.concatenate([initial_raw_prediction(model) for model in models])
            return _laid_out(models, _booster_trees, np.float32, starts.shape[1], starts)
        if type(first) in _HISTOGRAMS:
            parts = [histogram_booster(model) for model in models]
            if any(part is None for part in parts):
                return None
            starts = np.concatenate([np.reshape(part[0], (1, -1)) for part in parts])
            return _laid_out(models, _histogram_trees, np.float64, starts.shape[1], starts)
        if type(first) in _FIXED:
            return _laid_out(models, _fixed_trees, np.float64, first.leaf_values_.shape[2])
        return None

    def predict(self, X: Any) -> NDArray[Any]:
        """Return class codes or values of shape (m, n)."""
        if sparse.issparse(X):
            return self._one_by_one(X)
        with np.errstate(over="ignore"):  # too large for single precision
            rows = check_array(X, dtype=self.precision, ensure_all_finite=False)
            rows = rows.astype(np.float64)
        if not np.isfinite(rows).all():
            return self._one_by_one(X)
        parts = [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]
        return np.concatenate([self._decided(self._sums(part)) for part in parts], axis=1)

    def _sums(self, rows: Floats) -> Floats:
        passing = self.passing_from <= len(rows)
        ranks = np.empty(rows.shape[1] * APART, self.ranks)
        sums = np.repeat(self.start[:, :, None], len(rows), axis=2)
        tree_sums(rows, *self.layout, passing, ranks, sums)
        return sums

    def _decided(self, sums: Floats) -> NDArray[Any]:
        model = self.models[0]
        if type(model) in _BOOSTERS:
            if not is_classifier(model):
                return sums[:, 0]
            if sums.shape[1] == 1:
                return (sums[:, 0] >= 0).astype(np.int32)
        elif type(model) in _HISTOGRAMS:
            if not is_classifier(model):
                return np.stack([histogram_values(model, own[0]) for own in sums])
            if sums.shape[1] == 1:
                return (sums[:, 0] > 0).astype(np.int32)
        elif type(model) in _FORESTS:
            sums /= len(model.estimators_)
        else:
            sums /= model.leaf_values_.shape[0]
        if is_classifier(model):
            return sums.argmax(axis=1).astype(np.int32)
        return model.clipped(sums[:, 0]) if type(model) in _FIXED else sums[:, 0]

    def _one_by_one(self, X: Any) -> NDArray[Any]:
        """Return the sparse rows; gaps, which every tree sends where it learned.

        And what no tree takes.
        """
        model = self.models[0]
        predictions = np.stack([model.predict(X) for model in self.models])
        if not is_classifier(model):
            return predictions
        return np.searchsorted(model.classes_, predictions).astype(np.int32)


def _columns(model: Any) -> int:
    return int(model.n_classes_) if is_classifier(model) else 1


def _forest_trees(model: Any, index: int) -> Iterable[_Tree]:
    for estimator in model.estimators_:
        yield _sklearn_tree(estimator.tree_, estimator.tree_.value[:, 0], index, 0)


def _booster_trees(model: Any, index: int) -> Iterable[_Tree]:
    for stage in model.estimators_:
        for column, estimator in enumerate(stage):
            values = model.learning_rate * estimator.tree_.value[:, 0]
            yield _sklearn_tree(estimator.tree_, values, index, column)


def _histogram_trees(model: Any, index: int) -> Iterable[_Tree]:
    _, rounds = histogram_booster(model)
    for trees in rounds:
        for column, nodes in enumerate(trees):
            left = np.where(nodes["is_leaf"], -1, nodes["left"].astype(np.int64))
            yield _Tree(
                left,
                nodes["right"],
                nodes["feature_idx"],
                nodes["num_threshold"],
                nodes["value"][:, None],
                index,
                column,
            )


def _sklearn_tree(tree: Any, values: Floats, index: int, column: int) -> _Tree:
    return _Tree(
        tree.children_left,
        tree.children_right,
        tree.feature,
        tree.threshold,
        values,
        index,
        column,
    )


def _fixed_trees(model: FixedStructureForest, index: int) -> Iterable[_Tree]:
    n_nodes = model.features_.shape[1]
    left = np.where(np.arange(2 * n_nodes + 1) < n_nodes, 2 * np.arange(2 * n_nodes + 1) + 1, -1)
    for features, thresholds, leaves in zip(
        model.features_, model.thresholds_, model.leaf_values_, strict=True
    ):
        values = np.concatenate([np.zeros((n_nodes, leaves.shape[1])), leaves])
        yield _Tree(left, left + 1, features, thresholds, values, index, 0)


def _laid_out(
    models: tuple[Any, ...],
    trees_of: Callable[[Any, int], Iterable[_Tree]],
    precision: type,
    n_columns: int,
    start: Floats | None = None,
) -> StackedForest | None:
    """Return the trees of all models, node after node; None where these are too many."""
    trees = [tree for index, model in enumerate(models) for tree in trees_of(model, index)]
    size = sum(len(tree.left) for tree in trees)
    if size > _MOST_NODES:
        return None
    feature, child = np.empty(size, dtype=np.uint32), np.empty(size, dtype=np.uint32)
    threshold, source = np.empty(size), np.empty(size, dtype=np.int64)
    values = np.empty((size, trees[0].values.shape[1]))
    columns = np.empty(size, dtype=np.uint32)
    table, at = np.empty((len(trees), 4), dtype=np.int64), 0
    for row, tree in zip(table, trees, strict=True):
        depth = lay_out(
            tree.left.astype(np.int64),
            tree.right.astype(np.int64),
            tree.feature.astype(np.int64),
            tree.threshold.astype(np.float64),
            at,
            feature,
            threshold,
            child,
            source,
        )
        end = at + len(tree.left)
        values[at:end], columns[at:end] = tree.values[source[at:end]], tree.column
        row[:] = at, end, depth, tree.model
        at = end
    splits = child != np.arange(size)
    start = np.zeros((len(models), n_columns)) if start is None else start
    cuts, edges, split = _ranked(feature, threshold, splits, models[0].n_features_in_)
    layout = cuts, edges, split, child, table, *_entries(values, columns, ~splits)
    ranks = np.min_scalar_type(max(np.diff(edges).max(), _LEAST_RANKS))
    return StackedForest(models, start, precision, layout, ranks, _passing_from(table))


def _passing_from(trees: NDArray[np.int64]) -> float:
    sizes, depths = trees[:, 1] - trees[:, 0], trees[:, 2]
    # Passing costs nodes * (rows + _BEGINNING), looking up _LOOKING * depths * rows.
    gain = _LOOKING * depths.sum() - sizes.sum()
    if sizes.max() > _MOST_PASSED or gain <= 0:
        return np.inf
    return float(_BEGINNING * sizes.sum() / gain)


def _ranked(
    feature: NDArray[np.uint32], threshold: Floats, splits: NDArray[np.bool_], n_features: int
) -> tuple[Floats, NDArray[np.int64], NDArray[np.uint64]]:
    """Return each feature's thresholds, where they begin, and each node's feature and rank."""
    order = np.flatnonzero(splits)
    order = order[np.lexsort((threshold[order], feature[order]))]
    features, thresholds = feature[order], threshold[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (features[1:] != features[:-1]) | (thresholds[1:] != thresholds[:-1])
    edges = np.searchsorted(features[new], np.arange(n_features + 1))
    # A leaf has a rank that nothing is above.
    split = np.full(len(feature), 2**32 - 1, dtype=np.uint64)
    split[order] = (features.astype(np.int64) * APART << 32) + np.cumsum(new) - 1 - edges[features]
    return thresholds[new], edges, split


def _entries(
    values: Floats, columns: NDArray[np.uint32], leaves: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the numbers that leaves add, their columns, and where a leaf's next one stands.

    A leaf's first number stands at its own place. Zeros among several are left out: sums of these
    begin with zero, which adding zeros does not change.
    """
    size, width = values.shape
    counts = (values != 0) & leaves[:, None] if width > 1 else leaves[:, None]
    node, own = np.nonzero(counts)
    again = np.zeros(len(node), dtype=np.bool_)
    again[1:] = node[1:] == node[:-1]
    place = np.where(again, size - 1 + np.cumsum(again), node)
    value = np.zeros(size + np.count_nonzero(again))
    column, following = np.zeros((2, len(value)), dtype=np.uint32)
    value[place], column[place] = values[node, own], columns[node] + own
    following[place[:-1][again[1:]]] = place[1:][again[1:]]
    return value, column, following
