"""Thresholds and leaves of complete trees from histograms over the grid of each feature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.tabular.forests import forest_kernel as kernel
from pacsklearn.tabular.forests.structure import forest_structure

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


def spanned_scale(mean: Floats, spread: Floats) -> FeatureScale:
    """Return the scale of columns with this mean and standard deviation."""
    flat = spread <= 1e-12 * np.maximum(np.abs(mean), np.finfo(np.float64).tiny)
    return FeatureScale(mean, np.where(flat, 1.0, _WIDTH * spread))


Impurity = Callable[[Floats], Floats]

# Where a feature does not help, the middle of its range is as good as any and the most stable.
_TIE = 1e-9


class Statistics(NamedTuple):
    """What impurity and leaves follow from, when it is added up over rows.

    Parameters
    ----------
    codes : ndarray of uint32, shape (n_rows,)
        Which of the sums a row's first value is added to.
    values : ndarray of shape (width, n_rows)
        Each row's weight, for the sum of its class; or its weight, that times its target, and times
        the target's square.
    total : ndarray of shape (q,)
        The sums over all rows.
    weights : ndarray of shape (n_rows,)
    origin : float
        What was subtracted from the targets, because squares of large ones swamp their variance.
    """

    codes: NDArray[np.uint32]
    values: Floats
    total: Floats
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
        impurity : ndarray of shape (..., n_grid)

        Returns
        -------
        ndarray of shape (...)
            In units of the feature's range.
        """
        grid = self.grid
        at = np.arange(grid.size)
        below = impurity[..., np.maximum(at - 1, 0)]
        above = impurity[..., np.minimum(at + 1, at[-1])]
        cost = (1 - self.smoothing) * impurity + self.smoothing * (below + above)
        cost += (self.penalty + _TIE) * np.abs(grid)
        return np.asarray(grid[cost.argmin(axis=-1)])


def entropy(sums: Floats) -> Floats:
    """Return the entropy in nats times weight, of class weights along the last axis."""
    total = sums.sum(axis=-1)
    return np.asarray(xlogy(total, total) - xlogy(sums, sums).sum(axis=-1))


def squared_error(sums: Floats) -> Floats:
    """Return the squared deviations from the mean, of sums of ``w``, ``w y`` and ``w y^2``."""
    weight, first, second = np.moveaxis(sums, -1, 0)
    mean = np.divide(first, weight, out=np.zeros_like(first), where=weight > 0)
    return np.asarray(np.maximum(second - first * mean, 0.0))


def impurity_unit(total: Floats, impurity: Impurity) -> float:
    """Return what impurity is measured in, by sums over all rows.

    Nats a row, or the target's variance.
    """
    whole = float(total.sum()) if impurity is entropy else float(impurity(total))
    return whole if whole > 0 else 1.0


def summed_upward(leaf_sums: Floats) -> Floats:
    """Return the sums in every node, from those in the leaves; (n_trees, 2 * n_leaves - 1, q)."""
    levels = [leaf_sums]
    while levels[0].shape[1] > 1:
        levels.insert(0, levels[0][:, ::2] + levels[0][:, 1::2])
    return np.concatenate(levels, axis=1)


@final
class GrowingForest(NamedTuple):
    """A model whose forest is grown from some rows of a table.

    Parameters
    ----------
    model : estimator
        To be fitted.
    rows : ndarray of int
        In the table.
    statistics : Statistics
        Of these rows.
    """

    model: Any
    rows: NDArray[np.int64]
    statistics: Statistics


@final
class Growth:
    """Grows forests of one structure, each from its own rows of one table, level by level.

    Parameters
    ----------
    estimator : FixedStructureForestClassifier or FixedStructureForestRegressor
        States how; its parameters are checked.
    table : ndarray of shape (n_rows, n_features)

    Notes
    -----
    Impurity is a share of a forest's rows, not of the node's: a node that few rows reach has
    little to gain, so ``rule.penalty`` keeps its threshold in the middle. One pass over the rows
    for each level, whatever the size of the grid. What is added up for a forest are its own rows,
    one after the other: it is the same whatever is grown beside it. Source:
    pac-private-algorithms, section 5.4.
    """

    def __init__(self, estimator: Any, table: Floats) -> None:
        self.rule, self.impurity = estimator.rule(), estimator.impurity
        self.table = np.ascontiguousarray(table)
        self.structure = forest_structure(estimator, table.shape[1])
        self.used, splits = np.unique(self.structure.order, return_inverse=True)
        self.splits = splits.reshape(self.structure.order.shape)
        self.columns = np.ascontiguousarray(table[:, self.used].T)
        self.learns = estimator.thresholds == "learned"
        given = estimator.feature_range
        self.public = None if given is None else public_scale(given, table.shape[1])

    def grow(self, forests: list[GrowingForest]) -> None:
        """Fit the models."""
        (n_trees, depth), m = self.structure.order.shape, len(forests)
        known = [one.statistics for one in forests]
        q, rows = known[0].total.size, np.concatenate([one.rows for one in forests])
        edges = np.cumsum([0, *(len(one.rows) for one in forests)])
        codes = np.concatenate([one.codes for one in known])
        values = np.concatenate([one.values for one in known], axis=1)
        scales = self._scales(known, rows, edges)
        node = np.zeros((n_trees, len(rows)), dtype=np.uint16)
        features, grid = self.structure.features, self.rule.grid
        if self.learns:
            units = np.array([impurity_unit(one.total, self.impurity) for one in known])
            cells = np.empty((len(self.used), len(rows)), dtype=np.uint16)
            raw = np.stack([scale.raw(grid, self.used[:, None]) for scale in scales])
            centre, half_width = (
                np.stack([own[self.used] for own in each]) for each in zip(*scales, strict=True)
            )
            kernel.grid_cells(self.columns, rows, edges, centre, half_width, raw, cells)
            thresholds = np.empty((m, *features.shape))
        else:
            thresholds = np.stack([scale.raw(self.structure.units, features) for scale in scales])
        for level, splits in enumerate(np.ascontiguousarray(self.splits.T)):
            nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
            if self.learns:
                counts = np.zeros((m, n_trees, 2**level, len(grid) + 1, q))
                kernel.count_cells(cells, splits, node, edges, codes, values, counts)
                chosen = self._chosen(counts, units)
                for own, scale, places in zip(thresholds, scales, chosen, strict=True):
                    own[:, nodes] = scale.raw(places, features[:, nodes])
            own = np.ascontiguousarray(thresholds[:, :, nodes])
            kernel.descend_level(self.columns, rows, edges, splits, own, node)
        sums = np.zeros((m, n_trees, 2**depth, q))
        kernel.sum_leaves(node, edges, codes, values, sums)
        nodes_of = summed_upward(sums.reshape(m * n_trees, 2**depth, q))
        origins = np.repeat([one.origin for one in known], n_trees)
        means = forests[0].model.leaf_means(nodes_of, origins)
        means, nodes_of = (one.reshape(m, n_trees, *one.shape[1:]) for one in (means, nodes_of))
        for i, (model, *_) in enumerate(forests):
            model.features_, model.thresholds_ = features, thresholds[i].copy()
            model.centre_, model.half_width_ = scales[i]
            model.set_leaves(means[i].copy(), nodes_of[i])

    def _scales(
        self, known: list[Statistics], rows: NDArray[np.int64], edges: NDArray[np.int64]
    ) -> list[FeatureScale]:
        """Return the stated scale, or that of each forest's own rows."""
        if self.public is not None:
            return [self.public] * len(known)
        shares = np.concatenate([one.weights / one.weights.sum() for one in known])
        spread = kernel.mean_spread(self.table, rows, edges, shares)
        return [spanned_scale(*each) for each in zip(*spread, strict=True)]

    def _chosen(self, counts: Floats, units: Floats) -> Floats:
        """Return one level's thresholds, in units of their range; (forests, trees, nodes).

        By counts of shape (forests, trees, nodes, cells, q) and what each forest's impurity is
        measured in.
        """
        below = counts.cumsum(axis=3)
        total, below = below[:, :, :, -1:], below[:, :, :, :-1]
        left_behind = self.impurity(below) + self.impurity(np.maximum(total - below, 0.0))
        left_behind /= units[:, None, None, None]
        return self.rule.choose(left_behind)
