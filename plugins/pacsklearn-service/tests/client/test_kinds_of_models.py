"""Probabilities, texts as labels, regressors: through pipelines and cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pacsklearn_service import PrivateModel
from pacsklearn_service.server.recipe import Recipe
from service_house.house import N_COLUMNS, STEP, House, contested_rows, table
from service_house.serving import ask
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

RECIPES = {
    "chances": ("clinic", "LogisticRegression", {"of": "probabilities"}),
    "words": ("wards", "LogisticRegression", {}),
    "days": ("stays", "Ridge", {"range": [-20.0, 20.0]}),
}


@pytest.fixture(scope="module", autouse=True)
def models(house: House) -> None:
    catalog, (X, y) = house.coordinator.catalog, table()
    columns = {f"x{i}": X[:, i] for i in range(N_COLUMNS)}
    words = np.where(y == 1, "surgery", "medicine").astype(object)
    catalog.add_dataset("wards", columns | {"ward": words}, "ward", 4.0)
    catalog.add_dataset("stays", columns | {"days": X @ np.arange(1.0, 5.0)}, "days", 4.0)
    for name, (dataset, estimator, more) in RECIPES.items():
        recipe = {"name": name, "dataset": dataset, "estimator": estimator, "budget": 0.6875,
                  "secret": {"n": 8},
                  "release": {"query_budget": STEP} | more}  # fmt: skip
        catalog.fit(Recipe(**recipe), lambda _: None)
        catalog.mark(name, "published")
        house.coordinator.load(name)


def allow(house: House, server: Any, model: str, user: str) -> PrivateModel:
    from pacsklearn_service.server.store.quotas import Quotas

    found = ask(house, server, user, model=model)
    with house.coordinator.database.writing() as connection:
        Quotas(connection, RECIPES[model][0]).set_ceiling("user", user, 1.0)
    return found


@pytest.mark.soak
def test_probabilities_and_labels_have_one_price(house: House, server: Any) -> None:
    model, rows = allow(house, server, "chances", "pia").fit(), contested_rows(5, seed=31)
    chances, before = model.predict_proba(rows), house.spent
    assert chances.shape == (5, 2)
    assert chances.min() >= 0
    assert np.allclose(chances.sum(axis=1), 1)
    labels = model.predict(rows)
    assert labels.tolist() == model.classes_[chances.argmax(axis=1)].tolist()
    assert house.spent == before  # the row's stored answer
    whole = cross_val_predict(model, house.X[:12], house.y[:12], cv=3, method="predict_proba")
    assert np.array_equal(whole, model.predict_proba(house.X[:12]))
    loss = cross_val_score(model, house.X[:12], house.y[:12], cv=3, scoring="neg_log_loss")
    assert np.isfinite(loss).all()


def test_labels_that_are_texts(house: House, server: Any) -> None:
    model, (X, y) = allow(house, server, "words", "tom"), table()
    words = np.where(y == 1, "surgery", "medicine")
    pipeline = make_pipeline(FunctionTransformer(), model).fit(X[:24], words[:24])
    assert is_classifier(pipeline)
    assert pipeline.classes_.tolist() == ["medicine", "surgery"]
    told = pipeline.predict(X[:24])
    assert set(told) <= {"medicine", "surgery"}
    scores = cross_val_score(pipeline, X[:24], words[:24], cv=3)
    assert np.mean(scores) == pytest.approx(np.mean(told == words[:24]))
    assert np.mean(scores) > 0.5


def test_regressors(house: House, server: Any) -> None:
    model, (X, _) = allow(house, server, "days", "rex").fit(), table()
    assert is_regressor(model)
    assert not is_classifier(model)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "classes_")
    days = X[:24] @ np.arange(1.0, 5.0)
    told = model.predict(X[:24])
    assert told.shape == (24,)
    assert np.abs(told).max() <= 20
    frame = pd.DataFrame(X[:24], columns=model.feature_names_in_)
    errors = cross_val_score(make_pipeline(FunctionTransformer(), clone(model)), frame, days,
                             cv=3, scoring="neg_mean_absolute_error")  # fmt: skip
    # Eight rows a fold, and every row its stored answer.
    assert -np.mean(errors) == pytest.approx(np.mean(np.abs(told - days)))
