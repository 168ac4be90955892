"""Forests of complete trees of every subset, on views of one table."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import validate_data

from pacsklearn.joint.joint_problem import are_usable, class_weights
from pacsklearn.joint.member_sums import double_rows
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.tabular.forests import forest_kernel as kernel
from pacsklearn.tabular.forests.classifier import FixedStructureForestClassifier, root_weights
from pacsklearn.tabular.forests.growth import (
    FeatureScale,
    chosen_units,
    impurity_unit,
    public_scale,
    spanned_scale,
    summed_upward,
)
from pacsklearn.tabular.forests.regressor import FixedStructureForestRegressor
from pacsklearn.tabular.forests.structure import ForestStructure, forest_structure

# Below so many rows times subsets compiled code is not worth its start.
_LEAST_WORK = 200_000
# Places of rows, trees and features that are held at once.
_MOST_PLACES = 2**26
# A number this close to a threshold, in the feature's half widths, may be on either side of it by
# what rounding makes of the scale: such a subset is fitted the ordinary way.
_CLOSE = 1e-11


@final
class FixedForestFitter(SubsetFitter):
    """The same counts and thresholds as the ordinary fit, from rows where they lie."""

    name = "fixed_forest"
    description = "histograms of all subsets from one table, whose rows are not copied"
    estimators = (
        "pacsklearn.tabular.FixedStructureForestClassifier",
        "pacsklearn.tabular.FixedStructureForestRegressor",
    )

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> Self | None:
        kinds = (FixedStructureForestClassifier, FixedStructureForestRegressor)
        return cls() if type(estimator) in kinds else None

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        table, m = double_rows(X), space.n_subsets
        if table is None or np.ndim(y) != 1 or table.shape[0] * m < _LEAST_WORK:
            return [None] * m
        targets = np.asarray(y)
        if not _are_usable(estimator, targets):
            return [None] * m
        usable = np.asarray(np.isfinite(table).all(axis=1))
        if targets.dtype.kind == "f":
            usable &= np.isfinite(targets)
        table = np.where(usable[:, None], table, 0.0)
        blank = clone(estimator)
        validate_data(blank, X, skip_check_array=True)
        structure = forest_structure(estimator, table.shape[1])
        growth = _Growth(estimator, np.ascontiguousarray(table), structure)
        labels = np.unique(targets, return_inverse=True) if is_classifier(estimator) else None
        places = table.shape[0] * (structure.order.shape[0] + len(growth.used))
        together = max(1, _MOST_PLACES // places)
        models: list[Any] = [None] * m
        for start in range(0, m, together):
            parts = {}
            for i in range(start, min(start + together, m)):
                own = space.rows(i)
                part = _Part.of(copy(blank), own, targets, labels) if usable[own].all() else None
                if part is not None:
                    parts[i] = part
            if parts:
                growth.grow(list(parts.values()))
            for i, part in parts.items():
                models[i] = part.model if "leaf_values_" in vars(part.model) else None
        return models


@final
@dataclass(frozen=True, eq=False)
class _Part:
    """One candidate's rows, and what impurity and leaves follow from.

    Parameters
    ----------
    model : estimator
        To be fitted.
    rows : ndarray of int
        In the table.
    codes : ndarray of uint32
        Column of the statistics from which a row's values are added.
    values : ndarray of shape (width, n_rows)
        The statistics, or one number for each row where it adds to its class's column alone.
    total : ndarray of shape (q,)
        Sum of the rows' statistics.
    weights : ndarray of shape (n_rows,)
    origin : float
    """

    model: Any
    rows: NDArray[np.int64]
    codes: NDArray[np.uint32]
    values: Floats
    total: Floats
    weights: Floats
    origin: float = 0.0

    @classmethod
    def of(
        cls,
        model: Any,
        rows: NDArray[np.int64],
        targets: NDArray[Any],
        labels: tuple[NDArray[Any], NDArray[np.intp]] | None,
    ) -> _Part | None:
        """Return the structure's sums by class; None where the rows miss a class."""
        if labels is None:
            own = model.statistics(targets[rows])
            codes = np.zeros(len(rows), dtype=np.uint32)
            total = own.values.sum(axis=0)
            return cls(model, rows, codes, own.values.T, total, own.weights, own.origin)
        classes, codes = labels[0], labels[1][rows].astype(np.uint32)
        counts = np.bincount(codes, minlength=classes.size).astype(np.float64)
        if not counts.all():
            return None
        model.classes_ = classes.copy()
        weighting = model.class_weight
        factors = (
            root_weights(counts)
            if _is_root(weighting)
            else class_weights(weighting, classes, counts)
        )
        weights = np.ones(len(rows)) if factors is None else factors[codes]
        total = np.bincount(codes, weights, classes.size)  # one by one, as the ordinary fit does
        return cls(model, rows, codes, weights[None], total.astype(np.float64), weights)


class _Growth:
    """Grows the forests of some candidates, level by level."""

    def __init__(self, estimator: Any, table: Floats, structure: ForestStructure) -> None:
        self.table, self.structure = table, structure
        self.used, splits = np.unique(structure.order, return_inverse=True)
        self.splits = splits.reshape(structure.order.shape)
        self.columns = np.ascontiguousarray(table[:, self.used].T)
        self.rule, self.impurity = estimator.rule(), estimator.impurity
        self.learns = estimator.thresholds == "learned"
        given = estimator.feature_range
        self.public = None if given is None else public_scale(given, table.shape[1])

    def grow(self, parts: list[_Part]) -> None:
        """Fit the models, except those that rounding decides about."""
        (n_trees, depth), m, q = self.structure.order.shape, len(parts), len(parts[0].total)
        rows = np.concatenate([part.rows for part in parts])
        edges = np.cumsum([0, *(len(part.rows) for part in parts)])
        codes = np.concatenate([part.codes for part in parts])
        values = np.concatenate([part.values for part in parts], axis=1)
        centres, half_widths = self._scales(parts, rows, edges)
        scales = [FeatureScale(*both) for both in zip(centres, half_widths, strict=True)]
        centre, half_width = centres[:, self.used], half_widths[:, self.used]
        # A scale that is stated is known exactly.
        slack = _CLOSE * (half_width + np.abs(centre))
        slack = slack if self.public is None else np.full_like(slack, -1.0)
        doubtful = np.zeros(m, dtype=bool)
        node = np.zeros((n_trees, len(rows)), dtype=np.uint16)
        features, grid = self.structure.features, self.rule.grid
        if self.learns:
            wholes = np.array([impurity_unit(part.total, self.impurity) for part in parts])
            cells = np.empty((len(self.used), len(rows)), dtype=np.uint16)
            raw = np.stack([scale.raw(grid, self.used[:, None]) for scale in scales])
            steps = slack * (len(grid) - 1) / (2 * half_width)
            where = self.columns, rows, edges
            doubtful = kernel.grid_cells(*where, centre, half_width, raw, steps, cells)
            thresholds = np.empty((m, *features.shape))
        else:
            thresholds = np.stack([scale.raw(self.structure.units, features) for scale in scales])
        for level, splits in enumerate(np.ascontiguousarray(self.splits.T)):
            nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
            if self.learns:
                counts = np.zeros((m, n_trees, 2**level, len(grid) + 1, q))
                kernel.count_cells(cells, splits, node, edges, codes, values, counts)
                units = self._chosen(counts, wholes)
                for own, scale, unit in zip(thresholds, scales, units, strict=True):
                    own[:, nodes] = scale.raw(unit, features[:, nodes])
            own = np.ascontiguousarray(thresholds[:, :, nodes])
            kernel.descend_level(self.columns, rows, edges, splits, own, slack, node, doubtful)
        sums = np.zeros((m, n_trees, 2**depth, q))
        kernel.sum_leaves(node, edges, codes, values, sums)
        nodes_of = summed_upward(sums.reshape(m * n_trees, 2**depth, q))
        origins = np.repeat([part.origin for part in parts], n_trees)
        means = parts[0].model.leaf_means(nodes_of, origins)
        means, nodes_of = (one.reshape(m, n_trees, *one.shape[1:]) for one in (means, nodes_of))
        for i in np.flatnonzero(~doubtful):
            model = parts[i].model
            model.features_, model.thresholds_ = features, thresholds[i].copy()
            model.centre_, model.half_width_ = scales[i]
            model.set_leaves(means[i].copy(), nodes_of[i])

    def _scales(
        self, parts: list[_Part], rows: NDArray[np.int64], edges: NDArray[np.int64]
    ) -> FeatureScale:
        """Return the scale of every candidate, by its own rows; of shape (candidates, features)."""
        if self.public is not None:
            shape = (len(parts), self.table.shape[1])
            return FeatureScale(*(np.broadcast_to(one, shape) for one in self.public))
        shares = np.concatenate([part.weights / part.weights.sum() for part in parts])
        return spanned_scale(*kernel.mean_spread(self.table, rows, edges, shares))

    def _chosen(self, counts: Floats, wholes: Floats) -> Floats:
        """Return one level's thresholds, in units of their range; (candidates, trees, nodes)."""
        m, n_trees, n_nodes, width, q = counts.shape
        units = chosen_units(
            counts.reshape(-1, width, q),
            self.impurity,
            np.repeat(wholes, n_trees * n_nodes)[:, None],
            self.rule,
        )
        return units.reshape(m, n_trees, n_nodes)


def _is_root(weights: Any) -> bool:
    return isinstance(weights, str) and weights == "root"


def _are_usable(estimator: Any, targets: NDArray[Any]) -> bool:
    if not is_classifier(estimator):
        return targets.dtype.kind in "iuf"
    return _is_root(estimator.class_weight) or are_usable(estimator.class_weight)
