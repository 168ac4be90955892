"""Additive models of every subset at once."""

from __future__ import annotations

from copy import copy
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.class_weight import compute_sample_weight

from pacsklearn.joint.exact_fitter import ExactFitter
from pacsklearn.joint.member_sums import block_members
from pacsklearn.joint.row_frame import RowFrame
from pacsklearn.joint.shared_work import made_once
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.tabular.additive.classifier import loss_of_classes
from pacsklearn.tabular.additive.solver import Loss, Problem, SquaredLoss, minimise

_LARGEST = 1e100
# Cells of the scores of the models that are fitted together.
_MOST_CELLS = 2**23


@final
class AdditiveFitter(ExactFitter):
    """One design matrix for all candidates; rows outside a subset have weight zero.

    The problems are strictly convex and solved to rounding, so that starting at the solution of
    all rows, the far ones weighed less, and preconditioning by it, changes how long it takes and
    nothing else.
    """

    name = "additive"
    description = "Newton's method for all subsets on one design of public bins"
    estimators = (
        "pacsklearn.tabular.AdditiveClassifier",
        "pacsklearn.tabular.AdditiveRegressor",
    )

    @staticmethod
    def suits(estimator: Any) -> bool:
        return not estimator.monotone

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        blank, y = clone(estimator), np.asarray(y)
        penalty = blank.prepare(X)
        weights = block_members(space, np.arange(y.size)).astype(np.float64)
        common, spoilt = np.ones(y.size), np.zeros(space.n_subsets, dtype=bool)
        if y.dtype.kind == "f" and y.ndim == 1:
            usable = np.abs(y) <= _LARGEST
            spoilt = np.any(weights[~usable] > 0, axis=0)
            y = np.where(usable, y, 0.0)
            common = RowFrame.of(y[:, None]).weights
        loss = _loss(blank, y, weights)
        if loss is None:
            return [None] * space.n_subsets
        # Additive models that differ in their penalties alone have one design.
        binning = ("schema_", "n_bins", "bins", "pairs", "n_pair_bins")
        facts = [getattr(blank, name) for name in binning]
        design = made_once("design", (X,), facts, lambda: blank.design(X))
        everywhere, _ = minimise(Problem(design, loss, common[:, None], penalty))
        together = max(1, int(_MOST_CELLS / (y.size * loss.n_scores)))
        fitted: list[Any] = []
        for first in range(0, space.n_subsets, together):
            some = weights[:, first : first + together]
            problem = Problem(design, loss, some, penalty)
            solution, converged = minimise(problem, everywhere[:, :, 0])
            for own, w, done in zip(some.T, np.moveaxis(solution, 2, 0), converged, strict=True):
                fitted.append(_model(blank, w, design[own > 0]) if done else None)
        return [None if bad else one for bad, one in zip(spoilt, fitted, strict=True)]


def _loss(blank: Any, y: Any, weights: NDArray[np.float64]) -> Loss | None:
    """Return the loss of all rows; sets classes, and puts their weights into ``weights``.

    None where the targets are of another kind, or some subset does not see every class.
    """
    if y.ndim != 1:
        return None
    if not is_classifier(blank):
        return SquaredLoss(y.astype(np.float64)) if y.dtype.kind in "iuf" else None
    blank.classes_, codes = np.unique(y, return_inverse=True)
    counts = np.eye(blank.classes_.size)[codes].T @ weights
    if blank.classes_.size < 2 or not counts.all():
        return None
    if blank.class_weight is not None:
        for own in weights.T:
            inside = own > 0
            own[inside] = compute_sample_weight(blank.class_weight, y[inside])
    return loss_of_classes(codes, blank.classes_.size)


def _model(blank: Any, w: NDArray[np.float64], design: Any) -> Any:
    model = copy(blank)  # parameters are plain values
    model.set_weights(w, np.asarray(design @ w))
    return model
