"""Thresholds and leaves of complete trees from histograms over the grid of each feature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.tabular.forests.structure import ForestStructure

# Standard deviations to either side of the mean.
_WIDTH = 2.5


class FeatureScale(NamedTuple):
    """Middle and half the width of each feature's range; units run from -1 to 1."""

    centre: Floats
    half_width: Floats

    def raw(self, units: Any, features: Any) -> Floats:
        """Return the thresholds of the given ``features`` in the features' own units."""
        return np.asarray(self.centre[features] + self.half_width[features] * units)


def public_scale(feature_range: Any, n_features: int) -> FeatureScale:
    """Scale by a range that the user states.

    Parameters
    ----------
    feature_range : (low, high)
        Numbers, or arrays with one number for each feature.
    n_features : int
    """
    problem = (
        "feature_range must be None or a pair (low, high) with low < high, each a number or one "
        f"number for each of the {n_features} features"
    )
    try:
        low, high = (np.asarray(end, dtype=np.float64) for end in feature_range)
        low, high = np.broadcast_to(low, (n_features,)), np.broadcast_to(high, (n_features,))
    except (TypeError, ValueError):
        raise ValueError(f"{problem}, got {type(feature_range).__name__}.") from None
    if not (np.all(np.isfinite(low)) and np.all(np.isfinite(high)) and np.all(low < high)):
        raise ValueError(f"{problem}; for some feature they are not finite or low >= high.")
    return FeatureScale((low + high) / 2, (high - low) / 2)


def feature_scale(feature_range: Any, X: Floats, weights: Floats) -> FeatureScale:
    """Return the stated scale, or mean and standard deviation of the rows at hand."""
    if feature_range is not None:
        return public_scale(feature_range, X.shape[1])
    shares = weights / weights.sum()
    mean = shares @ X
    spread = np.sqrt(shares @ (X - mean) ** 2)
    return spanned_scale(mean, spread)


def spanned_scale(mean: Floats, spread: Floats) -> FeatureScale:
    """Return the scale of columns with this mean and standard deviation."""
    flat = spread <= 1e-12 * np.maximum(np.abs(mean), np.finfo(np.float64).tiny)
    return FeatureScale(mean, np.where(flat, 1.0, _WIDTH * spread))


Integers = NDArray[np.intp]
Impurity = Callable[[Floats], Floats]

# Where a feature does not help, the middle of its range is as good as any and the most stable.
_TIE = 1e-9
_CLOSE = 1e-6


class Statistics(NamedTuple):
    """What impurity and leaves follow from, when it is added up over rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows, q)
        Each row's weight in its class's column; or its weight, that times its target, and times
        the target's square.
    weights : ndarray of shape (n_rows,)
    origin : float
        What was subtracted from the targets, because squares of large ones swamp their variance.
    """

    values: Floats
    weights: Floats
    origin: float = 0.0


class ThresholdRule(NamedTuple):
    """How a threshold is chosen among those of the grid.

    Parameters
    ----------
    step : float
        Distance of neighbours on the grid, which runs from -1 to 1 through 0.
    smoothing : float
        Weight of the neighbours' impurity, in [0, 1].
    penalty : float
        Added for each unit of distance from 0.
    """

    step: float
    smoothing: float
    penalty: float

    @property
    def grid(self) -> Floats:
        """Thresholds to choose from, in units of the feature's range."""
        half = max(1, round(1 / self.step))
        return np.linspace(-1.0, 1.0, 2 * half + 1)

    def choose(self, impurity: Floats) -> Floats:
        """Return the threshold of each node from the impurity left behind by each of the grid's.

        Parameters
        ----------
        impurity : ndarray of shape (n_nodes, n_grid)

        Returns
        -------
        ndarray of shape (n_nodes,)
            In units of the feature's range.
        """
        grid = self.grid
        at = np.arange(grid.size)
        below, above = impurity[:, np.maximum(at - 1, 0)], impurity[:, np.minimum(at + 1, at[-1])]
        cost = (1 - self.smoothing) * impurity + self.smoothing * (below + above)
        cost += (self.penalty + _TIE) * np.abs(grid)
        return np.asarray(grid[cost.argmin(axis=1)])


def entropy(sums: Floats) -> Floats:
    """Return the entropy in nats times weight, of class weights along the last axis."""
    total = sums.sum(axis=-1)
    return np.asarray(xlogy(total, total) - xlogy(sums, sums).sum(axis=-1))


def squared_error(sums: Floats) -> Floats:
    """Return the squared deviations from the mean, of sums of ``w``, ``w y`` and ``w y^2``."""
    weight, first, second = np.moveaxis(sums, -1, 0)
    mean = np.divide(first, weight, out=np.zeros_like(first), where=weight > 0)
    return np.asarray(np.maximum(second - first * mean, 0.0))


def grow_thresholds(
    X: Floats,
    statistics: Floats,
    impurity: Impurity,
    structure: ForestStructure,
    scale: FeatureScale,
    rule: ThresholdRule,
) -> Floats:
    """Return the thresholds that leave the least impurity, from the root down.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    statistics : ndarray of shape (n_rows, q)
        What ``impurity`` needs, added up over rows.
    impurity : callable
        Additive impurity of sums along the last axis.
    structure, scale, rule
        Which features are asked, where their grid lies, how a threshold is chosen.

    Returns
    -------
    ndarray of shape (n_trees, 2**depth - 1)
        In the features' own units.

    Notes
    -----
    Impurity is a share of the whole subset, not of the node: a node that few rows reach has
    little to gain, so ``rule.penalty`` keeps its threshold in the middle. One pass over the rows
    for each level, whatever the size of the grid. Source: pac-private-algorithms, section 5.4.
    """
    grid = rule.grid
    n_rows, n_trees = X.shape[0], structure.order.shape[0]
    cells = _cells(X, scale, grid)
    whole = impurity_unit(statistics.sum(axis=0), impurity)
    repeated = np.repeat(statistics, n_trees, axis=0)
    thresholds = np.empty(structure.features.shape)
    trees = np.arange(n_trees)
    node = np.zeros((n_rows, n_trees), dtype=np.intp)
    for level, features in enumerate(structure.order.T):
        n_nodes, width = 2**level, grid.size + 1
        cell = (trees * n_nodes + node) * width + cells[:, features]
        counts = _sums(cell.ravel(), repeated, n_trees * n_nodes * width)
        counts = counts.reshape(n_trees * n_nodes, width, -1)
        units = chosen_units(counts, impurity, whole, rule).reshape(n_trees, n_nodes)
        chosen = scale.raw(units, features[:, None])
        thresholds[:, n_nodes - 1 : 2 * n_nodes - 1] = chosen
        node = 2 * node + (X[:, features] > chosen[trees, node])
    return thresholds


def chosen_units(counts: Floats, impurity: Impurity, whole: Any, rule: ThresholdRule) -> Floats:
    """Return the threshold of each node, in units of its feature's range.

    Parameters
    ----------
    counts : ndarray of shape (n_nodes, n_cells, q)
        Sums of the statistics of a node's rows in each cell of the grid.
    impurity : callable
    whole : float or ndarray of shape (n_nodes, 1)
        What impurity is measured in; see :func:`impurity_unit`.
    rule : ThresholdRule
    """
    below = counts.cumsum(axis=1)
    total, below = below[:, -1:], below[:, :-1]
    left_behind = (impurity(below) + impurity(np.maximum(total - below, 0.0))) / whole
    return rule.choose(left_behind)


def impurity_unit(total: Floats, impurity: Impurity) -> float:
    """Return what impurity is measured in, by sums over all rows.

    Nats a row, or the target's variance.
    """
    whole = float(total.sum()) if impurity is entropy else float(impurity(total))
    return whole if whole > 0 else 1.0


def node_sums(leaves: Integers, statistics: Floats, n_leaves: int) -> Floats:
    """Return the sums of ``statistics`` over the rows that reach each node of each tree.

    Returns
    -------
    ndarray of shape (n_trees, 2 * n_leaves - 1, q)
        Level by level, the leaves last.
    """
    n_trees = leaves.shape[1]
    cells = (leaves + n_leaves * np.arange(n_trees)).ravel()
    repeated = np.repeat(statistics, n_trees, axis=0)
    return summed_upward(_sums(cells, repeated, n_trees * n_leaves).reshape(n_trees, n_leaves, -1))


def summed_upward(leaf_sums: Floats) -> Floats:
    """Return the sums in every node, from those in the leaves; (n_trees, 2 * n_leaves - 1, q)."""
    levels = [leaf_sums]
    while levels[0].shape[1] > 1:
        levels.insert(0, levels[0][:, ::2] + levels[0][:, 1::2])
    return np.concatenate(levels, axis=1)


def _cells(X: Floats, scale: FeatureScale, grid: Floats) -> Integers:
    """Return how many of the grid's thresholds each number is above, feature by feature."""
    steps = grid.size - 1
    place = (X - scale.centre) * (steps / (2 * scale.half_width)) + steps / 2
    np.clip(place, -1.0, steps + 1.0, out=place)
    cells = np.clip(np.ceil(place), 0, grid.size).astype(np.intp)
    # Rounding must not decide about numbers that are thresholds themselves.
    close = np.abs(place - np.rint(place)) < _CLOSE
    for feature in np.flatnonzero(close.any(axis=0)) if close.any() else ():
        rows = close[:, feature]
        cells[rows, feature] = np.searchsorted(scale.raw(grid, feature), X[rows, feature])
    return cells


def _sums(cells: Integers, statistics: Floats, n_cells: int) -> Floats:
    return np.stack(
        [np.bincount(cells, column, minlength=n_cells) for column in statistics.T], axis=-1
    )
