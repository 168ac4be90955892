"""XGBoost models of every subset, grown on views of one sorted table."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import copy
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from xgboost import Booster, XGBClassifier, XGBRegressor

from pacsklearn.joint.member_sums import double_rows
from pacsklearn.joint.public_table import public_codes, public_table
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.plugins import SubsetFitter

__all__ = ["BoosterFitter"]

# Below so many rows times subsets compiled code is not worth its start.
_LEAST_WORK = 200_000
# Rows on which it is seen that trees are those of this XGBoost.
_TRIED = 1000
_MAX_BIN = 256
# A tree's histograms hold no more numbers than this.
_MOST_ROOM = 2**25
# XGBoost's own defaults of the parameters that are followed; all others are kept as they are.
_FOLLOWED = {
    "n_estimators": 100,
    "max_depth": 6,
    "learning_rate": 0.3,
    "reg_lambda": 1.0,
    "min_child_weight": 1.0,
}
_OF_NO_WEIGHT = {"n_jobs", "random_state", "verbosity", "importance_type", "enable_categorical"}
_NO_PARENT = 2**31 - 1
# What the compiled trees' nodes hold, by XGBoost's names: whole numbers, and others.
_WHOLE = (
    "left_children",
    "right_children",
    "parents",
    "split_indices",
    None,
    "default_left",
    None,
    None,
)
_OTHER = ("loss_changes", "sum_hessian", "base_weights")


@final
class BoosterFitter(SubsetFitter):
    """The cut points and trees that XGBoost finds on the candidate's rows, node by node.

    Each feature is sorted once, of all rows; a candidate's own rows are in the same order, which
    gives its own quantile sketch.
    """

    wants_classes = True

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], SubsetFitter | None]
    ) -> BoosterFitter | None:
        if type(estimator) not in (XGBClassifier, XGBRegressor):
            return None
        plain, given = type(estimator)().get_params(), estimator.get_params()
        numbers = all(isinstance(given[one], int | float | None) for one in _FOLLOWED)
        kept = (name for name in given if name not in {*_FOLLOWED, *_OF_NO_WEIGHT, "missing"})
        if not numbers or not all(_is_plain(given[name], plain.get(name)) for name in kept):
            return None
        if not isinstance(given["missing"], float) or not np.isnan(given["missing"]):
            return None
        params = _params(estimator)
        usual = params["max_depth"] >= 1 and params["min_child_weight"] > 0
        return cls() if usual and params["n_estimators"] >= 1 else None

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        m, table, targets = space.n_subsets, double_rows(X), np.asarray(y)
        if table is None or targets.ndim != 1 or len(table) * m < _LEAST_WORK:
            return [None] * m
        if targets.dtype.kind not in "iuf":
            return [None] * m
        classifies = isinstance(estimator, XGBClassifier)
        tried, made = public_table(X, _TRIED)
        made = public_codes(made, 2) if classifies else made
        known = clone(estimator).fit(tried, made)
        first = _Boosting(known, _single(double_rows(tried)), made.astype(np.float32))
        if first.learner(np.arange(_TRIED)) != first.known:
            return [None] * m  # another XGBoost
        single = _single(table)
        usable = np.isfinite(single).all(axis=0) & np.isfinite(targets)
        single[:, ~usable] = 0.0
        boosting = _Boosting(known, single, np.where(usable, targets, 0).astype(np.float32))
        every = [space.rows(i) for i in range(m)]
        both = [not classifies or set(np.unique(targets[own])) == {0, 1} for own in every]
        return [
            boosting.model(own) if two and len(own) >= _MAX_BIN and usable[own].all() else None
            for own, two in zip(every, both, strict=True)
        ]


def _single(table: Any) -> NDArray[np.float32]:
    """Features (p, n) in single precision."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(table.T.astype(np.float32))


def _is_plain(value: Any, usual: Any) -> bool:
    return value is usual or (isinstance(value, str | int | float) and value == usual)


def saved(model: Any) -> dict[str, Any]:
    """What XGBoost saves of a fitted model, numbers in its single precision."""
    text = model.get_booster().save_raw("json")
    learner: dict[str, Any] = json.loads(text, parse_float=lambda one: float(np.float32(one)))
    return learner


def _params(estimator: Any) -> dict[str, float]:
    given = estimator.get_params()
    return {
        name: usual if given[name] is None else given[name] for name, usual in _FOLLOWED.items()
    }


class _Boosting:
    """Boosts like a model that is fitted already, on other rows.

    Parameters
    ----------
    model : XGBClassifier or XGBRegressor
    single : ndarray of float32, shape (p, n)
    targets : ndarray of float32, shape (n,)
    """

    def __init__(
        self, model: Any, single: NDArray[np.float32], targets: NDArray[np.float32]
    ) -> None:
        self.template, self.single, self.targets = model, single, targets
        self.known = saved(model)
        self.params, self.classifies = _params(model), isinstance(model, XGBClassifier)
        orders = np.argsort(single, axis=1, kind="stable").astype(np.int32)
        self.sorted = orders, np.take_along_axis(single, orders, axis=1)

    def model(self, rows: NDArray[np.int64]) -> Any:
        """The model of these rows, increasing; None where it is to be fitted the ordinary way."""
        learner = self.learner(rows)
        if learner is None:
            return None
        model = copy(self.template)
        model._Booster = Booster(model.get_xgb_params())
        model._Booster.load_model(bytearray(json.dumps(learner).encode()))
        return model

    def learner(self, rows: NDArray[np.int64]) -> Any:
        """What XGBoost would save of the model of these rows."""
        from pacsklearn_xgboost.growth_kernel import grow_tree, logistic_steps, logit

        n, deepest, labels = len(rows), int(self.params["max_depth"]), self.targets[rows]
        least = np.float32(self.params["min_child_weight"])
        shape = min(2 ** (deepest - 1), n) + 1, len(self.single), _MAX_BIN, 2
        if np.prod(shape) > _MOST_ROOM:
            return None
        base = np.float32(labels.astype(np.float64).mean())
        start = logit(base) if self.classifies else base
        margins, room = np.full(n, start, np.float32), np.empty(shape)
        bins, n_bins, cuts = self._binned(rows)
        steps, (row_ids, spare) = np.ones((2, n), np.float32), np.empty((2, n), np.uint32)
        limits = float(np.float32(self.params["reg_lambda"])), float(least)
        limits = *limits, np.float32(self.params["learning_rate"]), deepest
        most = min(2 ** (deepest + 1), 2 * n)
        nodes = np.empty((len(_WHOLE), most), np.int64), np.empty((3, most), np.float32)
        trees = []
        for index in range(int(self.params["n_estimators"])):
            if self.classifies:
                logistic_steps(margins, labels, steps)
            else:
                np.subtract(margins, labels, out=steps[0])
            row_ids[:] = np.arange(n)
            size = grow_tree((bins, n_bins), steps, row_ids, spare, room, limits, nodes, margins)
            trees.append(self._tree(index, nodes[0][:, :size], nodes[1][:, :size], cuts))
        learner = self.known["learner"]
        booster = learner["gradient_booster"]
        grown = booster | {"model": booster["model"] | {"trees": trees}}
        start = {"base_score": f"[{_written(base)}]"}
        model = {"learner_model_param": learner["learner_model_param"] | start}
        return self.known | {"learner": learner | model | {"gradient_booster": grown}}

    def _tree(
        self,
        index: int,
        whole: NDArray[np.int64],
        other: NDArray[np.float32],
        cuts: NDArray[np.float32],
    ) -> dict[str, Any]:
        known = self.known["learner"]["gradient_booster"]["model"]["trees"][0]
        whole[2, 0] = _NO_PARENT
        columns = zip(_WHOLE + _OTHER, [*whole, *other], strict=True)
        found = {name: column.tolist() for name, column in columns if name}
        rate, leaves = np.float32(self.params["learning_rate"]), np.flatnonzero(whole[0] < 0)
        leaves = leaves[leaves > 0]
        ends = np.where(whole[0] < 0, other[2] * rate, cuts[whole[3], whole[4]])
        shrunk = other[2].copy()
        shrunk[leaves] *= rate  # a root that is a leaf keeps its weight
        size = {"num_nodes": str(len(ends))}
        found |= {"id": index, "tree_param": known["tree_param"] | size}
        return (
            known
            | found
            | {
                "base_weights": shrunk.tolist(),
                "split_conditions": ends.tolist(),
                "split_type": [0] * len(ends),
            }
        )

    def _binned(
        self, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.float32]]:
        """Bins (p, n_rows), how many each feature has, and cut points (p, 256)."""
        from pacsklearn_xgboost.cuts_kernel import bin_feature, sketch_limit

        place = np.full(self.single.shape[1], -1, np.int32)
        place[rows] = np.arange(len(rows))
        bins = np.empty((len(self.single), len(rows)), np.uint8)
        cuts, limit = np.zeros((len(bins), _MAX_BIN), np.float32), sketch_limit(len(rows), _MAX_BIN)
        features = zip(*self.sorted, self.single[:, rows], cuts, bins, strict=True)
        n_bins = [
            bin_feature(order, values, place, column, limit, points, own)
            for order, values, column, points, own in features
        ]
        return bins, np.array(n_bins), cuts


def _written(number: np.float32) -> str:
    """As XGBoost writes a number: its shortest digits, with an exponent."""
    digits = np.format_float_scientific(number, exp_digits=1, trim="-")
    return digits.replace("e", "E").replace("E+", "E")
