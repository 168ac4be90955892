"""Transformers without memory: an empty vector, and no row of anyone's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    Normalizer,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)

from pacsklearn import Nats, PACPrivate, Parameters, Subsets
from pacsklearn.canonical.stateless import StatelessCanonicalizer
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.plugins import registry

KNOTS = [[-1.0, -2.0, -3.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]
STEPS = [
    Binarizer(),
    Normalizer(),
    PolynomialFeatures(2),
    FunctionTransformer(np.abs),
    SplineTransformer(knots=KNOTS),
]


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


@pytest.mark.parametrize("kind", [np.asarray, list, lambda knots: knots.tolist()])
def test_knots_are_public_however_they_are_written(
    kind: Any, generator: np.random.Generator
) -> None:
    X = generator.uniform(-1, 1, (120, 3))
    curves = SplineTransformer(knots=kind(np.array(KNOTS)))
    model = PACPrivate(make_pipeline(curves, Ridge()), budget=0.25, secret=Subsets(16))
    model.fit(X, np.sin(3 * X[:, 0]))
    assert model.guarantee_.released == ("ridge: coef_", "ridge: intercept_")


WORDS = ["cough", "fever", "fall", "well"]


@pytest.mark.parametrize(
    "vectorizer",
    [
        HashingVectorizer(n_features=8),
        CountVectorizer(vocabulary=WORDS),
        TfidfVectorizer(vocabulary=WORDS, use_idf=False),
        make_pipeline(CountVectorizer(vocabulary=WORDS), TfidfTransformer(use_idf=False)),
    ],
    ids=lambda each: type(each).__name__,
)
def test_public_words_are_released_with_the_model(
    vectorizer: Any, generator: np.random.Generator
) -> None:
    notes = [" ".join(generator.choice(WORDS, 3)) for _ in range(60)]
    X = pd.DataFrame({"note": notes, "age": generator.normal(50, 10, 60)})
    y = np.array(["fever" in note for note in notes])
    columns = make_column_transformer((vectorizer, "note"), (StandardScaler(), ["age"]))
    model = make_pipeline(columns, LogisticRegression())
    canonicalizer = registry().canonicalizer_for(model)
    fitted = clone(model).fit(X, y)
    vector, layout = canonicalizer.encode(fitted, X)
    # Weights of the words and of the age, the intercept, and the scale of the probabilities.
    assert vector.size == (8 if hasattr(vectorizer, "n_features") else len(WORDS)) + 3
    decoded = canonicalizer.decode(vector, layout, clone(model))
    assert decoded.decision_function(X) == pytest.approx(fitted.decision_function(X))


def test_shares_of_words_are_taken_by_a_public_rule(generator: np.random.Generator) -> None:
    counts = generator.poisson(1.0, (60, 4)).astype(float)
    model = make_pipeline(TfidfTransformer(use_idf=False), LogisticRegression())
    released = PACPrivate(model, budget=Nats(0.25), secret=Subsets(16), release=Parameters())
    told = released.fit(counts, counts[:, 0] > 0).guarantee_.released
    assert told == ("logisticregression: coef_", "logisticregression: intercept_")
    learning = clone(released).set_params(estimator__tfidftransformer__use_idf=True)
    with pytest.raises(NoCanonicalizerError, match="use_idf=False"):
        learning.fit(counts, counts[:, 0] > 0)
