"""Subspaces with their origin and (whitened) spectrum, and axes without an order or a sign.

Of principal components and truncated SVD; of factors, independent and sparse components.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.decomposition import FactorAnalysis, FastICA, IncrementalPCA, TruncatedSVD

from pacsklearn.canonical.assignment import assign_up_to_sign
from pacsklearn.canonical.block_metric import BlockMetric, ScaledMetric
from pacsklearn.canonical.features import encoding_of, set_facts
from pacsklearn.canonical.log_domain import positive, symmetric
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.universe.metrics import DiagonalMetric, MatrixMetric

_MOST_FEATURES = 1024
_MOST_ROUNDS = 10
_SMALLEST_SHARE = 1e-6


@final
class PCACanonicalizer(Canonicalizer):
    """Orthonormal components turned inside their span to agree between subsets; the mean too.

    The released components span the noisy subspace and are orthonormal again; without whitening
    they are a basis of it, not ordered by variance.
    """

    name = "pca"
    description = "principal axes in an agreed orientation"
    estimators = (
        "sklearn.decomposition.IncrementalPCA",
        "sklearn.decomposition.PCA",
        "sklearn.decomposition.TruncatedSVD",
    )
    methods = ("transform", "inverse_transform")
    noised = ("components_", "mean_", "explained_variance_")
    noised_if: ClassVar = {
        "mean_": lambda model: not isinstance(model, TruncatedSVD),
        "explained_variance_": lambda model: getattr(model, "whiten", False),
    }
    reads_rows = False

    def __init__(self, *, whiten: bool = False) -> None:
        self.whiten = whiten
        # A noisy whitened basis is turned to its own axes, which later steps would not know of.
        self.is_exact = not whiten

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> Self:
        return cls(whiten=bool(getattr(estimator, "whiten", False)))

    def encode(self, estimator: Any, X: Any) -> Encoding:
        arrays: dict[str, Any] = {"components": estimator.components_}
        if getattr(estimator, "mean_", None) is not None:
            arrays["mean"] = estimator.mean_
        if self.whiten:
            spectrum = np.diag(estimator.explained_variance_)
            arrays["spectrum"] = spectrum[np.triu_indices_from(spectrum)]
        precision = str(estimator.components_.dtype)
        return encoding_of(estimator, arrays, dtype=precision)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        arrays = layout.unpack(vector)
        # Noise takes orthonormality away: the nearest basis that has it.
        left, _, right = np.linalg.svd(arrays["components"], full_matrices=False)
        components = left @ right
        if "spectrum" in arrays:
            spectrum = symmetric(arrays["spectrum"], components.shape[0])
            values, axes = np.linalg.eigh(spectrum)
            values, axes = values[::-1], axes[:, ::-1]
            # By the largest entry: the signs that eigh gives differ between libraries.
            signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(values.size)])
            components = (axes * signs).T @ components
            # A noisy variance may be negative, and whitening divides by its root.
            largest = max(float(values[0]), np.finfo(np.float64).tiny)
            template.explained_variance_ = np.maximum(values, _SMALLEST_SHARE * largest)
        set_facts(template, layout)
        template.components_ = components.astype(layout.fact("dtype"))
        if "mean" in arrays:
            template.mean_ = arrays["mean"].astype(layout.fact("dtype"))
            template.n_components_ = components.shape[0]
            if "spectrum" not in arrays:
                # Not released, but transform of some versions looks whether it is there.
                template.explained_variance_ = np.full(components.shape[0], np.nan)
        if isinstance(template, IncrementalPCA):  # which transforms sparse rows in batches
            template.batch_size_ = template.batch_size or 5 * components.shape[1]
        return template

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        where, shape = layout.slices(), dict(layout.blocks)["components"]
        components = vectors[:, where["components"]].reshape(-1, *shape)
        reference = components[0]
        turns = np.zeros((len(components), shape[0], shape[0]))
        for _ in range(_MOST_ROUNDS):
            # Turns inside the span alone: each candidate keeps the subspace that is its own.
            left, _, right = np.linalg.svd(reference @ components.transpose(0, 2, 1))
            new = left @ right
            if np.allclose(new, turns, atol=1e-12):
                break
            turns, reference = new, (new @ components).mean(axis=0)
        aligned = vectors.copy()
        aligned[:, where["components"]] = (turns @ components).reshape(vectors.shape[0], -1)
        if "spectrum" in where:
            for i, turn in enumerate(turns):
                spectrum = turn @ symmetric(vectors[i, where["spectrum"]], shape[0]) @ turn.T
                aligned[i, where["spectrum"]] = spectrum[np.triu_indices(shape[0])]
        return aligned

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return the expected squared error of ``mean + (x - mean) V'V``, first order.

        Components count by the variance along them, and only outside the span: a turn inside it
        changes no reconstruction.
        """
        n_components, p = dict(layout.blocks)["components"]
        variances = np.maximum(estimator.explained_variance_, np.finfo(np.float64).tiny)
        outside: Metric = DiagonalMetric(np.ones(p))
        if p <= _MOST_FEATURES and n_components < p:
            axes = np.linalg.qr(estimator.components_.T.astype(np.float64))[0]
            outside = MatrixMetric(np.eye(p) - axes @ axes.T)
        blocks: list[tuple[int, Metric]] = [
            (p, ScaledMetric(float(variance), outside)) for variance in variances
        ]
        if "mean" in dict(layout.blocks):
            blocks.append((p, DiagonalMetric(np.ones(p))))
        if self.whiten:
            scale = np.sqrt(np.outer(variances, variances))[np.triu_indices(n_components)]
            blocks.append((scale.size, DiagonalMetric(1 / (4 * scale))))
        return BlockMetric(tuple(blocks))

    def behaviour(self, estimator: Any, X: Any) -> Any:
        """Return the reconstructions, and lengths of the scores, which whitening changes."""
        scores = np.asarray(estimator.transform(X))  # of tables too: polars sums otherwise
        return np.column_stack([estimator.inverse_transform(scores), np.sum(scores**2, axis=1)])


# Share of a feature's signal below which a posterior of the factors cannot be computed.
_LEAST_NOISE = 1e-14


@final
class AxesCanonicalizer(Canonicalizer):
    """Components in an agreed order and direction, their origin, and the noise of factors.

    The outputs of what is released are those of one candidate, reordered and turned around.
    """

    name = "axes"
    description = "components in an agreed order and direction"
    estimators = (
        "sklearn.decomposition.FactorAnalysis",
        "sklearn.decomposition.FastICA",
        "sklearn.decomposition.MiniBatchSparsePCA",
        "sklearn.decomposition.SparsePCA",
    )
    methods = ("transform", "inverse_transform")
    noised = ("components_", "mean_", "mixing_", "noise_variance_")
    noised_if: ClassVar = {
        "mean_": lambda model: getattr(model, "whiten", True),
        "mixing_": lambda model: isinstance(model, FastICA),
        "noise_variance_": lambda model: isinstance(model, FactorAnalysis),
    }
    is_exact = False

    def encode(self, estimator: Any, X: Any) -> Encoding:
        arrays: dict[str, Any] = {"components": estimator.components_}
        if hasattr(estimator, "mean_"):
            arrays["mean"] = estimator.mean_
        if hasattr(estimator, "noise_variance_"):
            arrays["log_noise"] = np.log(estimator.noise_variance_)
        return encoding_of(estimator, arrays)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        arrays = layout.unpack(vector)
        set_facts(template, layout)
        template.components_ = arrays["components"]
        if "mean" in arrays:
            template.mean_ = arrays["mean"]
        if "log_noise" in arrays:
            signal = np.sum(np.square(arrays["components"]), axis=0)
            noise = positive(arrays["log_noise"])
            template.noise_variance_ = np.maximum(noise, _LEAST_NOISE * signal)
        if isinstance(template, FastICA):
            # From what was noised: the fitted one would leave without noise.
            template.mixing_ = np.linalg.pinv(template.components_)
        return template

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        where, shape = layout.slices()["components"], dict(layout.blocks)["components"]
        components = vectors[:, where].reshape(-1, *shape)
        order, sign = assign_up_to_sign(components)
        placed = np.take_along_axis(components, order[:, :, None], axis=1) * sign[:, :, None]
        aligned = vectors.copy()
        aligned[:, where] = placed.reshape(len(vectors), -1)
        return aligned

    def behaviour(self, estimator: Any, X: Any) -> Any:
        """Return the sizes of the scores, whatever their order and sign."""
        return np.sort(np.abs(np.asarray(estimator.transform(X))), axis=1)
