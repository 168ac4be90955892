"""Transformers without memory: an empty vector, and no row of anyone's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.preprocessing import Binarizer, FunctionTransformer, Normalizer, PolynomialFeatures

from pacsklearn.canonical.stateless import StatelessCanonicalizer

STEPS = [Binarizer(), Normalizer(), PolynomialFeatures(2), FunctionTransformer(np.abs)]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_the_step_is_fitted_again_on_nothing(step: Any, kind: Any) -> None:
    rows = kind(np.random.default_rng(0).normal(size=(9, 3)))
    if kind is pd.DataFrame:
        rows.columns = ["a", "b", "c"]
    canonicalizer = StatelessCanonicalizer()
    model = clone(step).fit(rows)
    vector, layout = canonicalizer.encode(model, rows)
    assert vector.shape == (0,)
    assert canonicalizer.noised == ()
    released = canonicalizer.decode(vector, layout, clone(step))
    assert np.array_equal(released.transform(rows), model.transform(rows))
    assert getattr(released, "n_features_in_", 3) == 3
