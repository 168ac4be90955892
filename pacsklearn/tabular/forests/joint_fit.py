"""Forests of complete trees of every subset, on views of one table."""

from __future__ import annotations

from copy import copy
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import validate_data

from pacsklearn._validation import is_word
from pacsklearn.joint.exact_fitter import ExactFitter
from pacsklearn.joint.joint_problem import are_usable
from pacsklearn.joint.member_sums import double_rows
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.tabular.forests.growth import GrowingForest, Growth

# Places of rows, trees and features that are held at once.
_MOST_PLACES = 2**26


@final
class FixedForestFitter(ExactFitter):
    """The same forests as the ordinary fit, grown beside each other from rows where they lie."""

    name = "fixed_forest"
    description = "histograms of all subsets from one table, whose rows are not copied"
    estimators = (
        "pacsklearn.tabular.FixedStructureForestClassifier",
        "pacsklearn.tabular.FixedStructureForestRegressor",
    )

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        table, models = double_rows(X), [None] * space.n_subsets
        targets = np.asarray(y)
        if table is None or targets.ndim != 1 or not _are_usable(estimator, targets):
            return models
        usable = np.asarray(np.isfinite(table).all(axis=1))
        if targets.dtype.kind == "f":
            usable &= np.isfinite(targets)
        blank = clone(estimator)
        validate_data(blank, X, skip_check_array=True)
        growth = Growth(estimator, np.where(usable[:, None], table, 0.0))
        targets = blank.read_targets(targets)
        n_classes = blank.classes_.size if is_classifier(blank) else 0
        places = table.shape[0] * (growth.structure.order.shape[0] + len(growth.used))
        together = max(1, _MOST_PLACES // places)
        for start in range(0, len(models), together):
            forests = []
            for i in range(start, min(start + together, len(models))):
                rows = space.rows(i)
                own = targets[rows]
                misses_a_class = n_classes and not np.bincount(own, minlength=n_classes).all()
                if usable[rows].all() and not misses_a_class:
                    models[i] = model = copy(blank)
                    statistics = model.statistics(own, np.ones(len(own)))
                    forests.append(GrowingForest(model, rows, statistics))
            if forests:
                growth.grow(forests)
        return models


def _are_usable(estimator: Any, targets: NDArray[Any]) -> bool:
    if not is_classifier(estimator):
        return targets.dtype.kind in "iuf"
    weighting = estimator.class_weight
    return is_word(weighting, "root") or are_usable(weighting)
