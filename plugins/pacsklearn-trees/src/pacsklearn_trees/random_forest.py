"""Random forests of every subset, on views of one table."""

from __future__ import annotations

from copy import copy
from numbers import Integral
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from pacsklearn._sklearn_compat import bootstrap_rows
from pacsklearn.joint.member_sums import double_rows
from pacsklearn.joint.public_table import public_codes, public_table
from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter
from pacsklearn.kernel.secret.secret_space import SecretSpace

# Rows times subsets times trees: below, scikit-learn is done before the compiler (16 s for 2.5 us a
# row and tree, of which 1.5 us are saved, with half of the rows in a subset).
_LEAST_WORK = 20_000_000
# Rows on which it is seen that trees are those of this scikit-learn.
_TRIED = 100
_SIXTEEN_BITS = 2**16
_BYTE = 8
# Parameters that are kept at these values.
_PLAIN = {
    "criterion": "gini",
    "min_weight_fraction_leaf": 0,
    "max_leaf_nodes": None,
    "max_samples": None,
    "class_weight": None,
    "ccp_alpha": 0,
    "monotonic_cst": None,
    "oob_score": False,
    "warm_start": False,
}
_NODE = (
    ("left_child", np.int64),
    ("right_child", np.int64),
    ("feature", np.int64),
    ("threshold", np.float64),
    ("impurity", np.float64),
    ("n_node_samples", np.int64),
    ("weighted_n_node_samples", np.float64),
    ("missing_go_to_left", np.uint8),
)
# scikit-learn draws the state of a tree's generator below this number.
_STATES = 2**31 - 1


@final
class RandomForestFitter(SubsetFitter):
    """The trees that scikit-learn grows on the candidate's rows, node by node.

    Each feature is sorted once, of all rows; a candidate's own rows are in the same order.
    """

    wants_classes = True

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> Self | None:
        if type(estimator) is not RandomForestClassifier:
            return None
        params = estimator.get_params(deep=False)
        plain = all(params[name] == value for name, value in _PLAIN.items() if name in params)
        whole = ("random_state", "min_samples_split", "min_samples_leaf")
        return cls() if plain and all(isinstance(params[one], Integral) for one in whole) else None

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        m, table, targets = space.n_subsets, double_rows(X), np.asarray(y)
        if table is None or targets.ndim != 1:
            return [None] * m
        if len(table) * m * estimator.n_estimators < _LEAST_WORK:
            return [None] * m
        single, usable = _single(table)
        classes, codes = np.unique(targets, return_inverse=True)
        if classes.size > _SIXTEEN_BITS:
            return [None] * m
        tried, score = public_table(X, max(_TRIED, 2 * classes.size))
        own = public_codes(score, classes.size)
        known = clone(estimator).fit(tried, classes[own])
        made = double_rows(tried)
        if made is None or not _same_trees(
            known, _Growth(known, _single(made)[0], own).forest(np.arange(len(own)))
        ):
            return [None] * m  # another scikit-learn
        growth = _Growth(known, single, codes)
        every = [space.rows(i) for i in range(m)]
        counts = (np.bincount(codes[rows], minlength=classes.size) for rows in every)
        return [
            growth.forest(rows) if count.all() and usable[rows].all() else None
            for rows, count in zip(every, counts, strict=True)
        ]


def _single(table: NDArray[np.float64]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Features (p, n) in single precision, and which rows these hold; zeros for the others."""
    with np.errstate(over="ignore"):
        single = table.T.astype(np.float32)
    usable = np.asarray(np.isfinite(single).all(axis=0))
    single[:, ~usable] = 0.0
    return single, usable


class _Growth:
    """Grows forests like one that is fitted already, on other rows.

    Parameters
    ----------
    known : RandomForestClassifier
    single : ndarray of float32, shape (p, n)
        The table's features.
    codes : ndarray of int, shape (n,)
    """

    def __init__(self, known: Any, single: NDArray[np.float32], codes: NDArray[np.intp]) -> None:
        self.known, self.codes = known, codes.astype(np.uint32)
        self.ranks, self.numbers = np.zeros(single.shape, np.uint32), np.zeros_like(single)
        for ranks, numbers, column in zip(self.ranks, self.numbers, single, strict=True):
            distinct, places = np.unique(column, return_inverse=True)
            ranks[:], numbers[: distinct.size] = places, distinct
        self.n_digits = -(-int(self.ranks.max(initial=1)).bit_length() // _BYTE)
        depth = known.max_depth
        self.limits = (
            int(known.estimators_[0].max_features_),
            2**31 - 1 if depth is None else int(depth),
            max(int(known.min_samples_split), 2 * int(known.min_samples_leaf)),
            int(known.min_samples_leaf),
        )
        self.drawn: dict[int, list[NDArray[np.uint32]]] = {}

    def forest(self, rows: NDArray[np.int64]) -> Any:
        """The forest of these rows, increasing."""
        model = copy(self.known)
        model._n_samples = len(rows)
        if model.bootstrap:
            model._n_samples_bootstrap = len(rows)
        model.classes_ = self.known.classes_.copy()
        trees = zip(self.known.estimators_, self._weights(len(rows)), strict=True)
        model.estimators_ = [self._tree(tree, rows, weights) for tree, weights in trees]
        return model

    def _weights(self, n: int) -> list[NDArray[np.uint32]]:
        """How often each tree's sample holds each of ``n`` rows."""
        if n not in self.drawn:
            ones = np.ones(n, np.uint32)
            self.drawn[n] = [
                np.bincount(bootstrap_rows(tree.random_state, n), minlength=n).astype(np.uint32)
                if self.known.bootstrap
                else ones
                for tree in self.known.estimators_
            ]
        return self.drawn[n]

    def _tree(self, known: Any, rows: NDArray[np.int64], weights: NDArray[np.uint32]) -> Any:
        from pacsklearn_trees.tree_growth_kernel import grow_tree

        load = np.zeros(len(self.codes), np.uint32)
        load[rows] = (weights << np.uint32(16)) | self.codes[rows]
        own = rows[weights > 0].astype(np.int32)
        most = 2 * len(own) - 1
        if self.limits[1] < most.bit_length():
            most = min(most, 2 ** (self.limits[1] + 1) - 1)
        nodes = tuple(np.empty(most, kind) for _, kind in _NODE)
        values = np.empty((most, len(self.known.classes_)))
        seed = np.random.RandomState(known.random_state).randint(0, _STATES)
        decrease = float(self.known.min_impurity_decrease)
        table = self.ranks, self.numbers, self.n_digits, load
        n_nodes, depth = grow_tree(table, own, seed, self.limits, decrease, nodes, values)
        make, arguments, state = known.tree_.__reduce__()
        packed = np.zeros(n_nodes, state["nodes"].dtype)
        for (name, _), numbers in zip(_NODE, nodes, strict=True):
            if name in packed.dtype.names:
                packed[name] = numbers[:n_nodes]
        shares = np.ascontiguousarray(values[:n_nodes, None])
        grown = make(*arguments)
        grown.__setstate__(
            state | {"max_depth": depth, "node_count": n_nodes, "nodes": packed, "values": shares}
        )
        tree = copy(known)
        tree.tree_ = grown
        return tree


def _same_trees(left: Any, right: Any) -> bool:
    for one, other in zip(left.estimators_, right.estimators_, strict=True):
        mine, theirs = one.tree_.__getstate__(), other.tree_.__getstate__()
        if mine["max_depth"] != theirs["max_depth"]:
            return False
        if not all(np.array_equal(mine[name], theirs[name]) for name in ("nodes", "values")):
            return False
    return True
