"""Forests of complete trees of every subset, on views of one table."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.validation import validate_data

from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.core.subset_fitter import SubsetFitter
from pacsklearn.fitting.convex_fitter import double_rows
from pacsklearn.forests.classifier import FixedStructureForestClassifier
from pacsklearn.forests.feature_scale import FeatureScale, public_scale, spanned_scale
from pacsklearn.forests.growth import Statistics, chosen_units, impurity_unit, summed_upward
from pacsklearn.forests.regressor import FixedStructureForestRegressor
from pacsklearn.forests.structure import ForestStructure, forest_structure
from pacsklearn.information.arrays import Floats

__all__ = ["FixedForestFitter"]

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

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], SubsetFitter | None]
    ) -> FixedForestFitter | None:
        kinds = (FixedStructureForestClassifier, FixedStructureForestRegressor)
        return cls() if type(estimator) in kinds else None

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        table, m = double_rows(X), space.n_subsets
        if table is None or np.ndim(y) != 1 or table.shape[0] * m < _LEAST_WORK:
            return [None] * m
        targets = np.asarray(y)
        if not is_classifier(estimator) and targets.dtype.kind not in "iuf":
            return [None] * m
        if not np.isfinite(table).all() or not _is_finite(targets):
            return [None] * m
        features = BaseEstimator()
        validate_data(features, X, skip_check_array=True)
        structure = forest_structure(estimator, table.shape[1])
        growth = _Growth(estimator, np.ascontiguousarray(table), structure)
        places = table.shape[0] * (structure.order.shape[0] + len(growth.used))
        together = max(1, _MOST_PLACES // places)
        blank, models = clone(estimator), list[Any]()
        labels = _Labels.of(estimator, targets)
        for start in range(0, m, together):
            part = [copy(blank) for _ in range(start, min(start + together, m))]
            members = []
            for i, model in enumerate(part, start=start):
                vars(model).update(vars(features))
                member = _member(model, space.rows(i), targets, labels)
                if member is not None:
                    members.append(member)
            if members:
                growth.grow(members)
            models += [model if hasattr(model, "leaf_values_") else None for model in part]
        return models


class _Member:
    """One candidate's forest while it grows.

    Parameters
    ----------
    model : estimator
    rows : ndarray of int
        In the table.
    statistics : Statistics
    places : ndarray of int
        Where the rows stand in the statistics.
    total : ndarray of shape (q,)
        Sum of the rows' statistics.
    """

    def __init__(
        self,
        model: Any,
        rows: NDArray[np.int64],
        statistics: Statistics,
        places: NDArray[np.int64],
        total: Floats,
    ) -> None:
        self.model, self.rows = model, rows
        self.statistics, self.places, self.total = statistics, places, total
        self.is_doubtful = False
        self.scale: FeatureScale
        self.slack: Floats
        self.cells: NDArray[np.uint16]
        self.node: NDArray[np.uint16]


class _Growth:
    """Grows the forests of some candidates, level by level."""

    def __init__(self, estimator: Any, table: Floats, structure: ForestStructure) -> None:
        self.table, self.structure = table, structure
        self.used, asked = np.unique(structure.order, return_inverse=True)
        self.asked = asked.reshape(structure.order.shape)
        self.columns = np.ascontiguousarray(table[:, self.used].T)
        self.rule, self.impurity = estimator.rule(), estimator.impurity
        self.learns = estimator.thresholds == "learned"
        given = estimator.feature_range
        self.public = None if given is None else public_scale(given, table.shape[1])

    def grow(self, members: list[_Member]) -> None:
        """Fit the models, except those that rounding decides about."""
        from pacsklearn.forests.forest_kernel import sum_leaves

        n_trees, depth = self.structure.order.shape
        for member in members:
            self._start(member)
        thresholds = np.empty((len(members), n_trees, 2**depth - 1))
        if not self.learns:
            for found, member in zip(thresholds, members, strict=True):
                found[:] = member.scale.raw(self.structure.units, self.structure.features)
        for level in range(depth):
            nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
            if self.learns:
                thresholds[:, :, nodes] = self._chosen(members, level)
            self._descend(members, thresholds[:, :, nodes], level)
        for found, member in zip(thresholds, members, strict=True):
            if member.is_doubtful:
                continue
            model, values = member.model, member.statistics.values
            sums = np.zeros((n_trees, 2**depth, values.shape[1]))
            sum_leaves(member.node, values, member.places, sums)
            model.features_, model.thresholds_ = self.structure.features, found.copy()
            model.centre_, model.half_width_ = member.scale
            model.set_leaves(summed_upward(sums), member.statistics.origin)

    def _start(self, member: _Member) -> None:
        """Scale and cells of the candidate's own rows, all of them at the roots."""
        from pacsklearn.forests.forest_kernel import grid_cells, mean_spread

        if self.public is None:
            weights = member.statistics.weights[member.places]
            scale = spanned_scale(*mean_spread(self.table, member.rows, weights / weights.sum()))
        else:
            scale = self.public
        member.scale, grid = scale, self.rule.grid
        centre, half_width = scale.centre[self.used], scale.half_width[self.used]
        slack = _CLOSE * (1 + np.abs(centre) / half_width)
        member.slack = slack * half_width if self.public is None else np.full(len(slack), -1.0)
        shape = len(member.rows)
        member.node = np.zeros((len(self.asked), shape), dtype=np.uint16)
        if self.learns:
            member.cells = np.empty((len(self.used), shape), dtype=np.uint16)
            raw = scale.raw(grid, self.used[:, None])
            steps = member.slack * (len(grid) - 1) / (2 * half_width)
            member.is_doubtful = grid_cells(
                self.columns, member.rows, centre, half_width, raw, steps, member.cells
            )

    def _chosen(self, members: list[_Member], level: int) -> Floats:
        """Thresholds of one level, of shape (candidates, trees, nodes)."""
        from pacsklearn.forests.forest_kernel import count_cells

        n_trees, n_nodes, width = len(self.asked), 2**level, len(self.rule.grid) + 1
        q = members[0].statistics.values.shape[1]
        counts = np.zeros((len(members), n_trees, n_nodes, width, q))
        wholes = np.empty(len(members))
        for i, member in enumerate(members):
            values = member.statistics.values
            asked = self.asked[:, level]
            count_cells(member.cells, asked, member.node, values, member.places, counts[i])
            wholes[i] = impurity_unit(member.total, self.impurity)
        units = chosen_units(
            counts.reshape(-1, width, q),
            self.impurity,
            np.repeat(wholes, n_trees * n_nodes)[:, None],
            self.rule,
        )
        units = units.reshape(len(members), n_trees, n_nodes)
        features = self.structure.order[:, level, None]
        raw = [m.scale.raw(own, features) for m, own in zip(members, units, strict=True)]
        return np.stack(raw)

    def _descend(self, members: list[_Member], thresholds: Floats, level: int) -> None:
        from pacsklearn.forests.forest_kernel import descend_level

        asked = np.ascontiguousarray(self.asked[:, level])
        for member, own in zip(members, thresholds, strict=True):
            member.is_doubtful |= descend_level(
                self.columns,
                member.rows,
                asked,
                np.ascontiguousarray(own),
                member.slack,
                member.node,
            )


def _is_finite(targets: NDArray[Any]) -> bool:
    return targets.dtype.kind != "f" or bool(np.isfinite(targets).all())


class _Labels(NamedTuple):
    """Classes of the universe; what all candidates' rows count where they weigh the same."""

    classes: NDArray[Any]
    codes: NDArray[np.intp]
    shared: Statistics | None

    @classmethod
    def of(cls, estimator: Any, targets: NDArray[Any]) -> _Labels | None:
        """None for regressors."""
        if not is_classifier(estimator):
            return None
        classes, codes = np.unique(targets, return_inverse=True)
        one_hot = np.eye(classes.size)[codes], np.ones(codes.size)
        return cls(classes, codes, None if estimator.class_weight else Statistics(*one_hot))


def _member(
    model: Any, rows: NDArray[np.int64], targets: NDArray[Any], labels: _Labels | None
) -> _Member | None:
    """A candidate about to grow; None where its rows miss a class."""
    if labels is not None:
        counts = np.bincount(labels.codes[rows], minlength=labels.classes.size)
        if not counts.all():
            return None
        if labels.shared is not None:
            model.classes_ = labels.classes.copy()
            return _Member(model, rows, labels.shared, rows, counts.astype(np.float64))
    statistics = model.statistics(targets[rows])
    total = statistics.values.sum(axis=0)
    return _Member(model, rows, statistics, np.arange(len(rows)), total)
