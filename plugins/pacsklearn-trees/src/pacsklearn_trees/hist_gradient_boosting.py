"""Histogram gradient boosting of every subset, on views of one sorted table."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from numbers import Integral
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split

from pacsklearn._sklearn_compat import binning_places
from pacsklearn.joint.member_sums import double_rows
from pacsklearn.joint.public_table import public_codes, public_table
from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter
from pacsklearn.kernel.secret.secret_space import SecretSpace


class SortedTable:
    """Features of all rows in order; any rows' own numbers are in the same order.

    Parameters
    ----------
    table : ndarray of float64, shape (n, p)
        With gaps (not a number).
    max_bins : int
        Bins a feature may have, without that of gaps.
    """

    def __init__(self, table: NDArray[np.float64], max_bins: int) -> None:
        self._n, self._max_bins, self._gaps = len(table), max_bins, np.isnan(table.T)
        self._features: list[tuple[NDArray[np.int32], NDArray[np.float64]]] = []
        for column, gaps in zip(table.T, self._gaps, strict=True):
            order = np.argsort(column, kind="stable")[: len(table) - np.count_nonzero(gaps)]
            self._features.append((order.astype(np.int32), column[order]))
        self._positions: dict[int, tuple[NDArray[np.float64], bool]] = {}

    def binned(
        self, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint8], list[NDArray[np.float64]]] | None:
        """Bins of rows and their thresholds, as histogram gradient boosting has them.

        Parameters
        ----------
        rows : ndarray of int, shape (n_rows,)
            Each once, in any order.

        Returns
        -------
        tuple of ndarray of uint8, shape (p, n_rows), and p ndarrays, or None
            Gaps are in bin ``max_bins``. None where a feature has no number.
        """
        from pacsklearn_trees.boosting_kernel import bin_feature

        place = np.full(self._n, -1, np.int32)
        place[rows] = np.arange(len(rows))
        bins = np.full((len(self._features), len(rows)), self._max_bins, np.uint8)
        own, where = np.empty(self._n + 1), np.empty(self._n + 1, np.int32)
        cuts, thresholds = np.empty(self._max_bins - 1), []
        for column, gaps, feature in zip(bins, self._gaps, self._features, strict=True):
            taken = len(rows) - int(np.count_nonzero(gaps[rows]))
            if not taken:
                return None
            count = bin_feature(*feature, place, self._places(taken), cuts, own, where, column)
            thresholds.append(cuts[:count].copy())
        return bins, thresholds

    def _places(self, n: int) -> tuple[NDArray[np.float64], bool]:
        """Which of ``n`` sorted numbers part the bins, as scikit-learn has it."""
        if n not in self._positions:
            self._positions[n] = binning_places(n, self._max_bins)
        return self._positions[n]


# Rows times subsets times iterations: below, scikit-learn is done before the compiler (27 s for
# 0.32 us a row and iteration, of which 0.2 us are saved, with half of the rows in a subset).
_LEAST_WORK = 300_000_000
# Rows on which it is seen that trees are those of this scikit-learn.
_TRIED = 1000
# Rows of each class that can be split into those to fit and those to judge by.
_OF_EACH = 2
# With more rows `early_stopping="auto"` stops early.
_NO_EARLY_STOPPING = 10_000
# A tree's histograms have no more bins than this.
_MOST_ROOM = 2**24
# Thresholds are cut off there.
_LARGEST = 1e300
# Parameters that are kept at these values.
_PLAIN = {
    "max_features": 1.0,
    "monotonic_cst": None,
    "interaction_cst": None,
    "class_weight": None,
    "warm_start": False,
    "scoring": "loss",
}
# What the compiled trees' nodes hold, by scikit-learn's names: whole numbers, and others.
_WHOLE = (
    "left",
    "right",
    "depth",
    None,
    "count",
    "feature_idx",
    "bin_threshold",
    "missing_go_to_left",
)
_OTHER = ("gain", "value")


@final
class HistGradientBoostingFitter(SubsetFitter):
    """The trees that scikit-learn grows on the candidate's rows, node by node.

    Each feature is sorted once, of all rows; a candidate's own rows are in the same order, which
    gives its own bins.
    """

    wants_classes = True

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> Self | None:
        if type(estimator) not in (HistGradientBoostingClassifier, HistGradientBoostingRegressor):
            return None
        params = estimator.get_params(deep=False)
        plain = all(params[name] == value for name, value in _PLAIN.items() if name in params)
        usual = params["loss"] in ("log_loss", "squared_error")
        # Types that say so are no numbers, which is seen when there is a table.
        categories = params["categorical_features"]
        usual &= categories is None or isinstance(categories, str)
        seeded = isinstance(params["random_state"], Integral)
        seeded &= isinstance(params["validation_fraction"], float)
        return cls() if plain and usual and seeded else None

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        m, table, targets = space.n_subsets, double_rows(X), np.asarray(y)
        if table is None or targets.ndim != 1 or len(table) * m * estimator.max_iter < _LEAST_WORK:
            return [None] * m
        usable = (np.isnan(table) | (np.abs(table) < _LARGEST)).all(axis=1)
        codes, n_classes = targets, 0
        tried, score = public_table(X, _TRIED, gaps=True)
        made: NDArray[Any] = score
        if isinstance(estimator, HistGradientBoostingClassifier):
            classes, codes = np.unique(targets, return_inverse=True)
            n_classes = classes.size
            share = min(estimator.validation_fraction, 1 - estimator.validation_fraction)
            if _OF_EACH * n_classes > share * _TRIED:
                return [None] * m
            made = public_codes(score, n_classes)
        elif targets.dtype.kind not in "iuf":
            return [None] * m
        usable &= np.isfinite(codes)
        checked = clone(estimator)
        checked.set_params(early_stopping=_stops(estimator, len(space.rows(0))))
        checked.fit(tried, classes[made] if n_classes else made)
        first = _Boosting(checked, np.asarray(tried, dtype=np.float64), made.astype(np.float64))
        if checked.is_categorical_ is not None or not _same(
            checked, first.model(np.arange(_TRIED))
        ):
            return [None] * m  # another scikit-learn
        table = np.where(usable[:, None], table, 0.0)
        boosting = _Boosting(checked, table, np.where(usable, codes, 0).astype(np.float64))
        boosting.known.early_stopping = estimator.early_stopping
        every = [space.rows(i) for i in range(m)]
        return [
            None
            if not usable[own].all()
            or (n_classes and np.bincount(codes[own], minlength=n_classes).min() < _OF_EACH)
            else boosting.model(own)
            for own in every
        ]


def _stops(estimator: Any, n: int) -> bool:
    automatic = estimator.early_stopping == "auto"
    return n > _NO_EARLY_STOPPING if automatic else bool(estimator.early_stopping)


class _Boosting:
    """Boosts like a model that is fitted already, on other rows.

    Parameters
    ----------
    known : HistGradientBoostingClassifier or HistGradientBoostingRegressor
    table : ndarray of float64, shape (n, p)
    targets : ndarray of float64, shape (n,)
        Codes of classes, or numbers.
    """

    def __init__(
        self, known: Any, table: NDArray[np.float64], targets: NDArray[np.float64]
    ) -> None:
        self.known, self.table, self.targets = known, table, targets
        self.sorted = SortedTable(table, known.max_bins)

    def model(self, rows: NDArray[np.int64]) -> Any:
        """The model of these rows, increasing; None where it is to be fitted the ordinary way."""
        model, loss, held = copy(self.known), self.known._loss, rows[:0]
        model.do_early_stopping_ = _stops(model, len(rows))
        if model.do_early_stopping_:
            rows, held = train_test_split(
                rows,
                test_size=model.validation_fraction,
                stratify=self.targets[rows] if hasattr(loss, "predict_proba") else None,
                random_state=model._random_seed,
            )
        n, mapper = len(rows), copy(model._bin_mapper)
        binned = None if n > mapper.subsample else self.sorted.binned(rows)
        if binned is None:
            return None
        bins, mapper.bin_thresholds_ = binned
        mapper.n_bins_non_missing_ = np.array([len(c) + 1 for c in binned[1]], np.uint32)
        trees = _Trees.of(model, mapper, bins)
        if trees is None:
            return None
        own, baseline = self.targets[rows], loss.fit_intercept_only(y_true=self.targets[rows])
        model._bin_mapper, model._predictors = mapper, []
        model._baseline_prediction = np.reshape(baseline, (1, -1))
        raw = np.repeat(model._baseline_prediction.T, n, axis=1).T
        steps = loss.init_gradient_and_hessian(n_samples=n, dtype=np.float32, order="F")
        gradients, hessians = (np.reshape(one, (len(one), -1), order="F") for one in steps)
        validation = self._validation(model, held, own, raw)
        for _ in range(model.max_iter):
            if loss.constant_hessian:
                loss.gradient(y_true=own, raw_prediction=raw, gradient_out=steps[0])
            else:
                loss.gradient_hessian(
                    y_true=own, raw_prediction=raw, gradient_out=steps[0], hessian_out=steps[1]
                )
            model._predictors.append(
                [
                    trees.grow(gradients[:, k], hessians[:, k], raw[:, k])
                    for k in range(model.n_trees_per_iteration_)
                ]
            )
            if model.do_early_stopping_ and validation():
                break
        model.train_score_ = np.asarray(model.train_score_)
        model.validation_score_ = np.asarray(model.validation_score_)
        return model

    def _validation(
        self,
        model: Any,
        held: NDArray[np.int64],
        own: NDArray[np.float64],
        raw: NDArray[np.float64],
    ) -> Callable[[], bool]:
        """Scores the model before its first tree, and whenever called; whether it may stop."""
        model.train_score_, model.validation_score_ = [], []
        if not model.do_early_stopping_:
            return lambda: False
        mapper = copy(model._bin_mapper)
        mapper.n_threads, missing = 1, mapper.missing_values_bin_idx_
        bins = mapper.transform(self.table[held])
        predictions = np.repeat(model._baseline_prediction.T, len(held), axis=1).T

        def judged() -> bool:
            for k, tree in enumerate(model._predictors[-1] if model._predictors else ()):
                predictions[:, k] += tree.predict_binned(bins, missing, 1)
            of_training, of_others = (raw, own, None), (predictions, self.targets[held], None)
            return bool(model._check_early_stopping_loss(*of_training, *of_others))

        judged()
        return judged


class _Trees:
    """Grows trees of one model on bins of its rows.

    Parameters
    ----------
    model : estimator
        Its parameters.
    mapper : object
        scikit-learn's, with thresholds of these rows.
    bins : ndarray of uint8, shape (p, n)
    room : tuple of ndarray
        See :func:`pacsklearn_trees.boosting_kernel.grow_tree`.
    leaves : int
        No tree has more.
    """

    def __init__(
        self, model: Any, mapper: Any, bins: NDArray[np.uint8], room: tuple[Any, Any], leaves: int
    ) -> None:
        n, deepest = bins.shape[1], model.max_depth
        missing, self.known = mapper.missing_values_bin_idx_, model._predictors[0][0]
        thresholds, n_known = mapper.bin_thresholds_, mapper.n_bins_non_missing_.astype(np.int64)
        self.table = bins, n_known, (bins == missing).any(axis=1), int(missing)
        self.limits = (
            model.max_leaf_nodes or n + 1,
            n if deepest is None else deepest,
            model.min_samples_leaf,
        )
        self.rates = float(model.l2_regularization), float(model.learning_rate)
        self.room = room
        # A split that parts rows with a number from those without has an infinite threshold.
        self.thresholds = np.full((len(bins), int(missing)), np.inf)
        for row, own in zip(self.thresholds, thresholds, strict=True):
            row[: len(own)] = own
        self.rows, self.spare = np.empty((2, n), np.uint32)
        self.nodes, self.written = (
            (np.zeros((len(_WHOLE), 2 * leaves), np.int64), np.zeros((len(_OTHER), 2 * leaves)))
            for _ in range(2)
        )

    @classmethod
    def of(cls, model: Any, mapper: Any, bins: NDArray[np.uint8]) -> _Trees | None:
        """None where the histograms would take too much room."""
        (p, n), least = bins.shape, model.min_samples_leaf
        leaves = min(model.max_leaf_nodes or n, max(n // least, 1))
        shape = min(leaves, n // (2 * least)) + 2, p, int(mapper.n_bins)
        if np.prod(shape) > _MOST_ROOM:
            return None
        return cls(model, mapper, bins, (np.empty((*shape, 2)), np.empty(shape, np.uint32)), leaves)

    def grow(
        self,
        gradients: NDArray[np.float32],
        hessians: NDArray[np.float32],
        raw: NDArray[np.float64],
    ) -> Any:
        """The next tree; what it says is added to ``raw``. One Hessian may stand for all."""
        from pacsklearn_trees.boosting_kernel import add_tree, grow_tree, sum_bins

        n, (sums, counts) = len(self.rows), self.room
        steps = gradients, hessians if len(hessians) == n else np.full(n, hessians[0])
        self.rows[:] = np.arange(n)
        sum_bins(self.table[0], self.rows, *steps, sums[0], counts[0])
        # In the order in which NumPy adds, as scikit-learn does.
        totals = float(sums[0, 0, :, 0].sum()), float(sums[0, 0, :, 1].sum())
        size = grow_tree(
            self.table,
            steps,
            totals,
            self.rows,
            self.spare,
            self.room,
            self.limits,
            self.rates,
            self.nodes,
        )
        add_tree(self.nodes, size, raw, self.rows, self.written)
        nodes = np.zeros(size, self.known.nodes.dtype)
        for name, numbers in zip(
            _WHOLE + _OTHER, [*self.written[0], *self.written[1]], strict=True
        ):
            if name:
                nodes[name] = numbers[:size]
        inner = np.flatnonzero(nodes["left"])
        nodes["is_leaf"] = 1
        nodes["is_leaf"][inner] = 0
        at = nodes["feature_idx"][inner], nodes["bin_threshold"][inner]
        nodes["num_threshold"][inner] = self.thresholds[at]
        tree = copy(self.known)
        tree.nodes = nodes
        return tree


def _same(left: Any, right: Any) -> bool:
    """Whether two models have the same bins, start and trees."""
    if right is None or left.n_iter_ != right.n_iter_:
        return False
    cuts = (model._bin_mapper.bin_thresholds_ for model in (left, right))
    mine, theirs = (
        [tree.nodes for trees in model._predictors for tree in trees] for model in (left, right)
    )
    return (
        np.array_equal(left._baseline_prediction, right._baseline_prediction)
        and all(np.array_equal(*both) for both in zip(*cuts, strict=True))
        and all(np.array_equal(*both) for both in zip(mine, theirs, strict=True))
    )
