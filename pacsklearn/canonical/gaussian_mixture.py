"""Gaussian mixtures: weights, means and covariance matrices in a common order."""

from __future__ import annotations

from copy import copy
from typing import Any, final

import numpy as np

from pacsklearn.canonical.assignment import assign_to_mean
from pacsklearn.canonical.block_metric import BlockMetric
from pacsklearn.canonical.features import encoding_of, set_facts
from pacsklearn.canonical.log_domain import (
    from_log,
    log_metric,
    mean_metric,
    positive,
    simplex,
    spectrum_of_log,
    to_log,
)
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.universe.metrics import DiagonalMetric


@final
class GaussianMixtureCanonicalizer(Canonicalizer):
    """Means, logarithms of the covariances and of the weights.

    Names of components are exchangeable: they are ordered by an optimal assignment of the means.
    """

    name = "gaussian_mixture"
    description = "weights, means and covariances in an agreed order"
    estimators = ("sklearn.mixture.GaussianMixture",)
    methods = ("predict", "predict_proba", "score_samples")
    noised = ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_")
    reads_rows = False

    def encode(self, estimator: Any, X: Any) -> Encoding:
        covariances = np.asarray(estimator.covariances_, dtype=np.float64)
        if estimator.covariance_type == "full":
            logarithms = np.stack([_log_matrix(matrix) for matrix in covariances])
        elif estimator.covariance_type == "tied":
            logarithms = _log_matrix(covariances)
        else:
            logarithms = np.log(covariances)
        with np.errstate(divide="ignore"):  # an empty component is reported by the session
            arrays = {
                "means": estimator.means_,
                "log_covariances": logarithms,
                "log_weights": np.log(estimator.weights_),
            }
        return encoding_of(estimator, arrays, covariance_type=estimator.covariance_type)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        arrays, kind = layout.unpack(vector), layout.fact("covariance_type")
        logarithms, p = arrays["log_covariances"], arrays["means"].shape[1]
        set_facts(template, layout)
        template.means_, template.weights_ = arrays["means"], simplex(arrays["log_weights"])
        if kind == "full":
            template.covariances_ = np.stack([from_log(upper, p) for upper in logarithms])
            roots = np.stack([_precision_root(upper, p) for upper in logarithms])
        elif kind == "tied":
            template.covariances_, roots = from_log(logarithms, p), _precision_root(logarithms, p)
        else:
            template.covariances_ = positive(logarithms)
            roots = positive(-logarithms / 2)
        # In the order of a file: products of another one differ in their last bits.
        template.precisions_cholesky_ = np.ascontiguousarray(roots)
        full = kind in ("full", "tied")
        template.precisions_ = roots @ np.swapaxes(roots, -1, -2) if full else roots**2
        return template

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        shapes, m = dict(layout.blocks), len(vectors)
        means = vectors[:, layout.slices()["means"]].reshape(m, *shapes["means"])
        spread = means.std(axis=(0, 1))
        order = assign_to_mean(means / np.where(spread > 0, spread, 1.0))
        aligned = vectors.copy()
        for name, where in layout.slices().items():
            if name == "log_covariances" and layout.fact("covariance_type") == "tied":
                continue
            parts = vectors[:, where].reshape(m, order.shape[1], -1)
            parts = np.take_along_axis(parts, order[:, :, None], axis=1)
            aligned[:, where] = parts.reshape(m, -1)
        return aligned

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return the expected squared change of a log-density on its own rows, first order."""
        typical = layout.unpack(vectors.mean(axis=0))
        kind, logarithms = layout.fact("covariance_type"), typical["log_covariances"]
        k, p = typical["means"].shape
        if kind in ("full", "tied"):
            uppers = np.broadcast_to(logarithms, (k, logarithms.shape[-1]))
            blocks: list[tuple[int, Metric]] = [(p, mean_metric(upper, p)) for upper in uppers]
            blocks += [(uppers.shape[1], log_metric(p))] * (k if kind == "full" else 1)
        else:
            inverse = positive(-logarithms).reshape(k, -1)
            blocks = [(p, DiagonalMetric(np.broadcast_to(row, p))) for row in inverse]
            share = 0.5 if kind == "diag" else 0.5 * p
            blocks.append((logarithms.size, DiagonalMetric(np.full(logarithms.size, share))))
        return BlockMetric((*blocks, (k, DiagonalMetric(np.ones(k)))))

    def behaviour(self, estimator: Any, X: Any) -> Any:
        """Return densities, and the mean of the component each row belongs to, whatever its name.

        Weighted by the probabilities, because rounding decides which component ``predict`` names
        for a row between two; and in double precision whatever the model was fitted in, because
        the squares of features in single precision lose what is compared. The result keeps the
        model's precision, which is that of its parameters.
        """
        rows, double = np.asarray(X, dtype=np.float64), copy(estimator)
        for name in ("weights_", "means_", "covariances_", "precisions_cholesky_"):
            setattr(double, name, np.asarray(getattr(estimator, name), dtype=np.float64))
        densities = np.column_stack(
            [double.score_samples(rows), double.predict_proba(rows) @ double.means_]
        )
        return densities.astype(np.asarray(estimator.means_).dtype)


def _log_matrix(matrix: Floats) -> Floats:
    variances, axes = np.linalg.eigh(matrix)
    return to_log(axes, np.maximum(variances, 0.0))


def _precision_root(upper: Floats, size: int) -> Floats:
    """Return the upper triangular ``R`` with ``R @ R.T`` the inverse of the covariance matrix."""
    axes, variances = spectrum_of_log(upper, size)
    # By a QR decomposition, so that no covariance matrix is inverted.
    triangle = np.linalg.qr((axes / np.sqrt(variances)).T[:, ::-1])[1]
    root = triangle[::-1, ::-1].T
    return np.asarray(root * np.sign(np.diag(root)))
