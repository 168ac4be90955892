"""Factors, independent and sparse components: axes without an order or a sign."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from sklearn.decomposition import FastICA

from pacsklearn.canonical.assignment import assign_up_to_sign
from pacsklearn.canonical.features import encoding_of, set_features
from pacsklearn.canonical.log_domain import positive
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.information.arrays import Floats

# Share of a feature's signal below which a posterior of the factors cannot be computed.
_LEAST_NOISE = 1e-14


@final
class AxesCanonicalizer(Canonicalizer):
    """Components in an agreed order and direction, their origin, and the noise of factors.

    The outputs of what is released are those of one candidate, reordered and turned around.
    """

    methods = ("transform", "inverse_transform")
    noised = ("components_", "mean_", "mixing_ (FastICA)", "noise_variance_ (FactorAnalysis)")
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
        set_features(template, layout)
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
        """Sizes of the scores, whatever their order and sign."""
        return np.sort(np.abs(estimator.transform(X)), axis=1)
