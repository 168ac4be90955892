"""Multi-layer perceptrons: hidden units in a common order, sign and scale."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any, final

import numpy as np
from sklearn.base import is_classifier

from pacsklearn._sklearn_compat import is_multilabel
from pacsklearn.canonical.affine import AffineMap, FoldingCanonicalizer
from pacsklearn.canonical.assignment import assign_up_to_sign
from pacsklearn.canonical.features import encoding_of, set_facts
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Encoding, Layout

# Activations f with f(c a) = c f(a) for c > 0, and with f(-a) = -f(a).
_SCALE_FREE = ("relu", "identity")
_ODD = ("tanh", "identity")


@final
class MLPCanonicalizer(FoldingCanonicalizer):
    """Weights and biases of every layer.

    Hidden units are exchangeable and are ordered by an optimal assignment, layer after layer. With
    ``relu`` a unit's incoming weights are brought to length one; with ``tanh`` a unit may be turned
    around.
    """

    name = "mlp"
    description = "weights of a network with its hidden units in an agreed order"
    estimators = (
        "sklearn.neural_network.MLPClassifier",
        "sklearn.neural_network.MLPRegressor",
    )
    methods = ("predict", "predict_proba", "predict_log_proba")
    noised = ("coefs_", "intercepts_")

    def encode(self, estimator: Any, X: Any) -> Encoding:
        layers = [
            np.vstack([weights, bias]).astype(np.float64)
            for weights, bias in zip(estimator.coefs_, estimator.intercepts_, strict=True)
        ]
        if estimator.activation in _SCALE_FREE:
            for into, out in pairwise(layers):
                _normalise(into, out)
        arrays = {f"layer {i}": layer for i, layer in enumerate(layers)}
        facts = {"activation": estimator.activation, "out_activation_": estimator.out_activation_}
        if is_classifier(estimator):
            facts |= {"classes_": estimator.classes_, "multilabel": is_multilabel(estimator)}
        return encoding_of(estimator, arrays, **facts)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        layers = list(layout.unpack(vector).values())
        set_facts(template, layout)
        template.coefs_ = [layer[:-1].copy() for layer in layers]
        template.intercepts_ = [layer[-1].copy() for layer in layers]
        template.n_layers_, template.n_outputs_ = len(layers) + 1, layers[-1].shape[1]
        template.out_activation_ = layout.fact("out_activation_")
        return template

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        signed = layout.fact("activation") in _ODD
        layers = [
            vectors[:, where].reshape(len(vectors), *shape).copy()
            for where, (_, shape) in zip(layout.slices().values(), layout.blocks, strict=True)
        ]
        for depth, (into, out) in enumerate(pairwise(layers)):
            units = into.swapaxes(1, 2)
            if depth == len(layers) - 2:  # outputs have names, so these weights can be compared
                units = np.concatenate([units, out[:, :-1]], axis=2)
            order, sign = assign_up_to_sign(units, signed=signed)
            into[:] = np.take_along_axis(into, order[:, None, :], axis=2) * sign[:, None, :]
            out[:, :-1] = np.take_along_axis(out[:, :-1], order[:, :, None], axis=1)
            out[:, :-1] *= sign[:, :, None]
        return np.concatenate([layer.reshape(len(vectors), -1) for layer in layers], axis=1)

    def fold(self, estimator: Any, affine: AffineMap) -> Any:
        folded = copy.copy(estimator)
        weights, shift = affine.pull_back(
            estimator.coefs_[0].T.astype(np.float64), estimator.intercepts_[0]
        )
        folded.coefs_ = [weights.T, *estimator.coefs_[1:]]
        folded.intercepts_ = [shift, *estimator.intercepts_[1:]]
        return folded

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return (estimator.predict_proba if is_classifier(estimator) else estimator.predict)(X)


def _normalise(into: Floats, out: Floats) -> None:
    """Bring what comes into each unit to length one; what goes out takes the factor over."""
    length = np.linalg.norm(into, axis=0)
    length[length == 0] = 1.0
    into /= length
    out[:-1] *= length[:, None]
