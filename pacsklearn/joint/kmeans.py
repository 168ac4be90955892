"""K-Means of every subset, from the starts that scikit-learn draws on it."""

from __future__ import annotations

from copy import copy
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms

from pacsklearn._sklearn_compat import features_of, prepare_for_predict
from pacsklearn._validation import is_word
from pacsklearn.joint.exact_fitter import ExactFitter
from pacsklearn.joint.lloyd_kernel import lloyd
from pacsklearn.joint.member_sums import double_rows
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.secret.secret_space import SecretSpace

# With more clusters one bound for all other centres rules out little.
_MOST_CLUSTERS = 32
# So many numbers, over all subsets, are read before compiling is worth its time.
_LEAST_WORK = 2**23


@final
class KMeansFitter(ExactFitter):
    """The same starts and the same assignments as ``KMeans``, with fewer distances."""

    name = "kmeans"
    description = (
        "Lloyd's iterations from scikit-learn's starts, without distances that cannot matter"
    )
    estimators = ("sklearn.cluster.KMeans",)

    @staticmethod
    def suits(estimator: Any) -> bool:
        # A start that is not "k-means++" is drawn in another way in every version.
        plain = is_word(estimator.init, "k-means++")
        whole = isinstance(estimator.random_state, (int, np.integer))
        return plain and whole and 1 < estimator.n_clusters <= _MOST_CLUSTERS

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        rows = double_rows(X)
        if rows is None or rows.size * space.n_subsets < _LEAST_WORK:
            return [None] * space.n_subsets
        features = features_of(X)
        blank, fitted = clone(estimator), []
        for i in range(space.n_subsets):
            model = copy(blank)
            fitted.append(model if fit_kmeans(model, rows[space.rows(i)]) else None)
            vars(model).update(features)
        return fitted


def fit_kmeans(model: Any, rows: Floats) -> bool:
    """Fit on these rows, which are overwritten; False where the ordinary fit has to."""
    k = model.n_clusters
    if len(rows) < k:
        return False
    mean = rows.mean(axis=0)
    rows -= mean
    norms, generator = row_norms(rows, squared=True), check_random_state(model.random_state)
    tolerance = float(norms.sum() / rows.size * model.tol)  # a share of the mean variance
    if not np.isfinite(tolerance):
        return False
    best: tuple[float, Floats, NDArray[np.int32], int] | None = None
    for _ in range(1 if model.n_init == "auto" else model.n_init):
        # The rows are checked: on some thousands of them checks cost as much as the draws.
        with config_context(assume_finite=True, skip_parameter_validation=True):
            centres, _ = kmeans_plusplus(rows, k, x_squared_norms=norms, random_state=generator)
        labels = np.empty(len(rows), dtype=np.int32)
        inertia, iterations = lloyd(rows, norms, centres, tolerance, model.max_iter, labels)
        if not iterations or np.unique(labels).size < k:
            return False
        better = best is None or inertia < best[0]
        if better and not (best is not None and _same_clusters(labels, best[2], k)):
            best = inertia, centres, labels, iterations
    assert best is not None
    model.inertia_, model.labels_, model.n_iter_ = best[0], best[2], best[3]
    model.cluster_centers_ = best[1] + mean
    prepare_for_predict(model, n_outputs=k)
    return True


def _same_clusters(left: NDArray[np.int32], right: NDArray[np.int32], k: int) -> bool:
    """Return whether two labellings differ in the names of clusters only."""
    pairs = np.unique(left.astype(np.int64) * k + right)
    return bool(pairs.size == k)
