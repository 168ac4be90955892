"""Non-negative matrix factorisation: parts in a common order."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from scipy import sparse
from scipy.optimize import nnls

from pacsklearn._sklearn_compat import prepare_factorisation
from pacsklearn.canonical.assignment import in_mean_order
from pacsklearn.canonical.features import encoding_of, set_facts
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout

_SMALLEST = 1e-100


@final
class NMFCanonicalizer(Canonicalizer):
    """Non-negative components; their order is agreed on, their length is one.

    A component's length goes into the scores (``transform``) when it is released. Where scores are
    penalised (``alpha_W``) lengths matter to the reconstruction and stay. Negative numbers of a
    noisy component are set to zero.
    """

    name = "nmf"
    description = "non-negative components in an agreed order"
    estimators = (
        "sklearn.decomposition.MiniBatchNMF",
        "sklearn.decomposition.NMF",
    )
    methods = ("transform", "inverse_transform")
    noised = ("components_",)
    is_exact = False

    def encode(self, estimator: Any, X: Any) -> Encoding:
        components = np.asarray(estimator.components_, dtype=np.float64)
        if not estimator.alpha_W:
            lengths = np.linalg.norm(components, axis=1, keepdims=True)
            components = components / np.where(lengths > 0, lengths, 1.0)
        return encoding_of(
            estimator, {"components": components}, dtype=str(estimator.components_.dtype)
        )

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        components = np.maximum(layout.unpack(vector)["components"], 0.0)
        if components.max() < _SMALLEST:  # scikit-learn refuses components that are all zero
            components = np.full_like(components, 1 / np.sqrt(components.shape[1]))
        set_facts(template, layout)
        template.components_ = components.astype(layout.fact("dtype"))
        template.n_components_ = len(components)
        prepare_factorisation(template, template.components_)
        return template

    align = staticmethod(in_mean_order)

    def behaviour(self, estimator: Any, X: Any) -> Any:
        """Return the best reconstructions of the rows, which depend on the components' cone alone.

        Not by ``transform``, which stops at a tolerance.
        """
        rows = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        components = np.asarray(estimator.components_, dtype=np.float64)
        return np.stack([components.T @ nnls(components.T, row)[0] for row in rows])
