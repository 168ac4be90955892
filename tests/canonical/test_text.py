"""Texts in a column of a column transformer, by words that are public."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn.plugin import registry

WORDS = ["cough", "fever", "fall", "well"]


@pytest.mark.parametrize(
    "vectorizer",
    [
        HashingVectorizer(n_features=8),
        CountVectorizer(vocabulary=WORDS),
        TfidfVectorizer(vocabulary=WORDS, use_idf=False),
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
