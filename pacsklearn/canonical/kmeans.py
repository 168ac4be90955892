"""K-Means: cluster centres in a common order."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from pacsklearn._sklearn_compat import prepare_for_predict
from pacsklearn.canonical.assignment import assign_to_mean
from pacsklearn.canonical.features import encoding_of, set_features
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.information.arrays import Floats


@final
class KMeansCanonicalizer(Canonicalizer):
    """Cluster centres; names of clusters are exchangeable and ordered by optimal assignment."""

    methods = ("predict", "transform")
    noised = ("cluster_centers_",)
    reads_rows = False

    def encode(self, estimator: Any, X: Any) -> Encoding:
        # Compiled code compares rows and centres of one precision only.
        precision = str(estimator.cluster_centers_.dtype)
        return encoding_of(estimator, {"centres": estimator.cluster_centers_}, dtype=precision)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        centres = layout.unpack(vector)["centres"].astype(layout.fact("dtype"))
        prepare_for_predict(template, n_outputs=len(centres))
        set_features(template, layout)
        template.cluster_centers_ = centres
        return template

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        ((_, shape),) = layout.blocks
        centres = vectors.reshape(-1, *shape)
        order = assign_to_mean(centres)
        return np.take_along_axis(centres, order[:, :, None], axis=1).reshape(vectors.shape)

    def behaviour(self, estimator: Any, X: Any) -> Any:
        """The centre each row belongs to, whatever its name."""
        return estimator.cluster_centers_[estimator.predict(X)]
