"""Forests of public structure: thresholds, and what the leaves say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier

from pacsklearn.canonical.block_metric import BlockMetric
from pacsklearn.canonical.features import encoding_of, numeric_rows, set_facts
from pacsklearn.canonical.linear import SCALE_WEIGHT
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.tabular.forests.fixed_structure_forest import repaired_votes
from pacsklearn.tabular.forests.forest_kernel import mean_squares
from pacsklearn.tabular.forests.growth import FeatureScale, public_scale
from pacsklearn.tabular.forests.structure import ForestStructure, descend, forest_structure
from pacsklearn.universe.metrics import DiagonalMetric
from pacsklearn.universe.some_rows import some_rows

# Rows on which noise is weighed; more cost time and change little.
_MOST_ROWS = 1000
# What a threshold's noise costs is tried at these fractions of the feature's standard deviation,
# and the most counts: where no row is near, a small change costs nothing and a large one much.
_TRIED = (0.25, 0.5, 1.0, 2.0)
_LEAST_LOG_SCALE = -30.0
_NUMBERS = ("thresholds_", "leaf_values_")
# Thresholds that no row is near cost next to nothing, but noise there is not free either.
_LEAST_SHARE = 1e-6


@final
class FixedStructureForestCanonicalizer(Canonicalizer):
    """A threshold for each inner node and values for each leaf; the structure is public.

    Learned thresholds are released in the features' own units, inside a public ``feature_range``
    where one is stated and on its grid. Random ones follow from the public seed and, without a
    public range, from centre and half width of each feature, which are released in their place.
    Leaves are released as the class probabilities' distances from equal ones, their size on the
    subset's own rows apart; the noise follows how rows spread over the leaves of all trees, so
    that it cancels in the trees' average.
    """

    name = "fixed_structure_forest"
    description = "thresholds and leaves of complete trees of public structure"
    estimators = (
        "pacsklearn.tabular.FixedStructureForestClassifier",
        "pacsklearn.tabular.FixedStructureForestRegressor",
    )
    methods = ("predict", "predict_proba", "apply")
    noised = ("thresholds_", "leaf_values_")
    noised_if: ClassVar = {
        "thresholds_": lambda model: model.thresholds == "learned" or model.feature_range is None
    }

    def encode(self, estimator: Any, X: Any) -> Encoding:
        size = 1.0
        if _has_scale(estimator):
            average = estimator.average(X) - 1 / estimator.classes_.size
            size = float(np.sqrt(np.mean(np.square(average))))
        return self._encoding(estimator, size)

    def encode_jointly(
        self, models: Sequence[Any], X: Any, space: SecretSpace
    ) -> list[Encoding] | None:
        if not _has_scale(models[0]):
            return [self._encoding(model, 1.0) for model in models]
        rows = numeric_rows(X)
        if sparse.issparse(rows):
            return None
        order = forest_structure(models[0], rows.shape[1]).order
        used, splits = np.unique(order, return_inverse=True)
        columns, splits = np.ascontiguousarray(rows[:, used].T), splits.reshape(order.shape)
        own = [space.rows(i) for i in range(len(models))]
        edges = np.cumsum([0, *map(len, own)])
        numbers = (np.stack([getattr(model, name) for model in models]) for name in _NUMBERS)
        squares = mean_squares(columns, np.concatenate(own), edges, splits, *numbers)
        return [self._encoding(*both) for both in zip(models, np.sqrt(squares), strict=True)]

    def _encoding(self, estimator: Any, size: float) -> Encoding:
        """Return a forest's encoding, of averages with root mean square ``size``."""
        arrays: dict[str, Floats] = {}
        if estimator.thresholds == "learned":
            arrays["thresholds"] = estimator.thresholds_
        elif estimator.feature_range is None:
            arrays |= {"centre": estimator.centre_, "half_width": estimator.half_width_}
        facts: dict[str, Any] = {"features_": estimator.features_}
        values = np.moveaxis(estimator.leaf_values_, -1, 0)
        if is_classifier(estimator):
            facts["classes_"] = estimator.classes_
            values = values - values.mean(axis=0)
            if _has_scale(estimator):
                # How sure a forest is depends on every row, even where a leaf is the same for all.
                scale = float(size) or 1.0
                values = values / scale
                arrays["log_scale"] = np.array([np.log(scale)])
        arrays["leaves"] = values
        return encoding_of(estimator, arrays, **facts)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        arrays = layout.unpack(vector)
        set_facts(template, layout)
        structure = forest_structure(template, template.n_features_in_)
        template.features_ = structure.features
        template.thresholds_ = _thresholds(arrays, template, structure)
        values = np.moveaxis(arrays["leaves"], 0, -1)
        if is_classifier(template):
            if "log_scale" in arrays:  # distances of probabilities from equal ones are below one
                values = values * np.exp(np.clip(arrays["log_scale"], _LEAST_LOG_SCALE, 0.0))
            values = values - values.mean(axis=-1, keepdims=True) + 1 / values.shape[-1]
            if template.leaves == "votes":
                values = repaired_votes(values)
        template.leaf_values_ = np.ascontiguousarray(values)
        return template

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return the expected squared change of the trees' average on the universe's rows."""
        rows, typical = numeric_rows(X), vectors.mean(axis=0)
        rows = rows[some_rows(rows.shape[0], -(-rows.shape[0] // _MOST_ROWS))]
        structure = forest_structure(estimator, rows.shape[1])
        arrays, where = layout.unpack(typical), layout.slices()
        thresholds = _thresholds(arrays, estimator, structure)
        leaves = descend(rows, structure.features, thresholds)
        n_leaves = arrays["leaves"].shape[-1]
        blocks: list[tuple[int, Metric]] = []
        costs = _threshold_costs(rows, arrays, estimator, structure, leaves)
        if costs.size:
            costs += _LEAST_SHARE * costs.max(initial=np.finfo(np.float64).tiny)
            blocks.append((costs.size, DiagonalMetric(costs)))
        if "log_scale" in where:
            blocks.append((1, DiagonalMetric(np.array([SCALE_WEIGHT]))))
        blocks.append((arrays["leaves"].size, _leaf_metric(leaves, n_leaves)))
        return BlockMetric(tuple(blocks))

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return (estimator.predict_proba if is_classifier(estimator) else estimator.predict)(X)


def _has_scale(estimator: Any) -> bool:
    """Return whether leaves are released with their size on the subset's own rows apart."""
    return is_classifier(estimator) and estimator.leaves != "votes"


def _thresholds(arrays: dict[str, Floats], template: Any, structure: ForestStructure) -> Floats:
    """Return the thresholds of a vector, repaired: inside the public range, widths not negative."""
    given, n_features = template.feature_range, template.n_features_in_
    if "centre" in arrays:
        scale = FeatureScale(arrays["centre"], np.maximum(arrays["half_width"], 0.0))
        return scale.raw(structure.units, structure.features)
    if "thresholds" not in arrays:
        return public_scale(given, n_features).raw(structure.units, structure.features)
    if given is None:
        return arrays["thresholds"]
    low, high = (public_scale(given, n_features).raw(end, structure.features) for end in (-1, 1))
    return np.clip(arrays["thresholds"], low, high)


@final
@dataclass(frozen=True, eq=False)
class LeafMetric(Metric):
    """Mean squared change, over some rows, of the average of the leaves that a row reaches.

    Parameters
    ----------
    reached : sparse matrix of shape (n_rows, n_trees * n_leaves)
        One for each leaf that a row reaches.
    """

    reached: Any

    def root(self, rows: Floats) -> Floats:
        outputs = rows.reshape(rows.shape[0], -1, self.reached.shape[1])
        changes = [self.reached @ values.T for values in outputs.transpose(1, 0, 2)]
        n_trees = self.reached.nnz / self.reached.shape[0]
        scale = n_trees * np.sqrt(self.reached.shape[0])
        return np.concatenate(changes).T / scale


def _leaf_metric(leaves: NDArray[np.intp], n_leaves: int) -> LeafMetric:
    n_rows, n_trees = leaves.shape
    columns = (leaves + n_leaves * np.arange(n_trees)).ravel()
    starts = np.arange(0, columns.size + 1, n_trees)
    shape = (n_rows, n_trees * n_leaves)
    return LeafMetric(sparse.csr_matrix((np.ones(columns.size), columns, starts), shape=shape))


def _threshold_costs(
    rows: Floats,
    arrays: dict[str, Floats],
    template: Any,
    structure: ForestStructure,
    leaves: NDArray[np.intp],
) -> Floats:
    """Return the largest mean squared change of the average by a unit of each number."""
    spread = rows.std(axis=0)
    spread[spread == 0] = 1.0
    values, features = arrays["leaves"], structure.features
    every = np.arange(rows.shape[1])
    owners = {"thresholds": features.ravel(), "centre": every, "half_width": every}
    costs = []
    for name in [name for name in arrays if name in owners]:
        for index, feature in enumerate(owners[name]):
            # A threshold belongs to one tree, a centre to every tree that asks about the feature.
            trees = np.flatnonzero((features == feature).any(axis=1))
            if name == "thresholds":
                trees = np.array([index // features.shape[1]])
            worst = 0.0
            for tried in (sign * size * spread[feature] for size in _TRIED for sign in (-1, 1)):
                moved = arrays | {name: arrays[name].copy()}
                moved[name].flat[index] += tried
                placed = _thresholds(moved, template, structure)[trees]
                there = descend(rows, features[trees], placed)
                difference = values[:, trees, there] - values[:, trees, leaves[:, trees]]
                change = np.mean(np.sum(np.sum(difference, axis=-1) ** 2, axis=0))
                worst = max(worst, float(change) / tried**2)
            costs.append(worst / values.shape[1] ** 2)
    return np.array(costs)
