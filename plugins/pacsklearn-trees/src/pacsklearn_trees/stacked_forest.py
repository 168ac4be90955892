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

from pacsklearn._sklearn_compat import (
    histogram_booster,
    histogram_values,
    initial_raw_prediction,
)
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.batch_predictor import BatchPredictor
from pacsklearn.tabular.forests.classifier import FixedStructureForestClassifier
from pacsklearn.tabular.forests.fixed_structure_forest import FixedStructureForest
from pacsklearn.tabular.forests.regressor import FixedStructureForestRegressor
from pacsklearn_trees.tree_kernel import lay_out, tree_sums

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
    trees : ndarray of int, shape (n_trees, 4)
    feature, child : ndarray of unsigned int, shape (n_nodes,)
    threshold : ndarray of shape (n_nodes,)
    values : ndarray of shape (n_nodes, width)
        See :func:`pacsklearn_trees.tree_kernel.tree_sums`.
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
    trees: NDArray[np.int64] = field(repr=False)
    feature: NDArray[np.uint32] = field(repr=False)
    threshold: NDArray[Any] = field(repr=False)
    child: NDArray[np.uint32] = field(repr=False)
    values: Floats = field(repr=False)

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
            rows = np.ascontiguousarray(X, dtype=self.precision)
        if not np.isfinite(rows).all():
            return self._one_by_one(X)
        return self._decided(self._sums(rows))

    def _decided(self, sums: Floats) -> NDArray[Any]:
        model = self.models[0]
        if type(model) in _BOOSTERS:
            if not is_classifier(model):
                return sums[:, :, 0]
            if sums.shape[2] == 1:
                return (sums[:, :, 0] >= 0).astype(np.int32)
        elif type(model) in _HISTOGRAMS:
            if not is_classifier(model):
                return np.stack([histogram_values(model, own[:, 0]) for own in sums])
            if sums.shape[2] == 1:
                return (sums[:, :, 0] > 0).astype(np.int32)
        elif type(model) in _FORESTS:
            sums /= len(model.estimators_)
        else:
            sums /= model.leaf_values_.shape[0]
        if is_classifier(model):
            return sums.argmax(axis=2).astype(np.int32)
        return model.clipped(sums[:, :, 0]) if type(model) in _FIXED else sums[:, :, 0]

    def _sums(self, rows: NDArray[Any]) -> Floats:
        sums = np.repeat(self.start[:, None, :], len(rows), axis=1)
        tree_sums(rows, self.feature, self.threshold, self.child, self.values, self.trees, sums)
        return sums

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
    columns: int,
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
        values[at:end] = tree.values[source[at:end]]
        row[:] = at, depth, tree.model, tree.column
        at = end
    start = np.zeros((len(models), columns)) if start is None else start
    limits = _largest_singles(threshold) if precision is np.float32 else threshold
    return StackedForest(models, start, precision, table, feature, limits, child, values)


def _largest_singles(threshold: Floats) -> NDArray[np.float32]:
    """Return the largest number in single precision that is no larger.

    No single lies between the two.
    """
    with np.errstate(over="ignore"):
        single = threshold.astype(np.float32)
    below = np.nextafter(single, np.float32(-np.inf))
    return np.where(single > threshold, below, single)
