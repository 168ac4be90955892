"""Tables, secret columns, labels and weights as other libraries give them; gaps behind masks."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from numpy.ma import masked_array
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB

from pacsklearn import PACPrivate, SRPPPrivate
from pacsklearn.exceptions import ScenarioError, SubsetFitError
from pacsklearn.srpp import (
    GroupScenario,
    PrevalenceScenario,
    SRPPSGDClassifier,
    SRPPSGDRegressor,
)

pd = pytest.importorskip("pandas", reason="pandas is not installed")
pl = pytest.importorskip("polars", reason="polars is not installed")
pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

pytestmark = pytest.mark.filterwarnings("ignore:random_state makes:UserWarning")

RNG = np.random.default_rng(0)
N = 60
S = np.arange(N) % 2
X = np.c_[S, RNG.normal(size=(N, 2))]
Y = (X[:, 1] > 0).astype(int)
FRAME = pd.DataFrame(X, columns=list("sab"))
HIDDEN = np.arange(N) < 5
MODEL = LogisticRegression(C=0.1)


def descent(**parameters: Any) -> SRPPSGDClassifier:
    return SRPPSGDClassifier(
        budget=4.0, batches=32, random_state=0, **{"classes": [0, 1], **parameters}
    )


def private(estimator: Any = MODEL, **parameters: Any) -> SRPPPrivate:
    return SRPPPrivate(estimator, budget=1.0, random_state=0, **parameters)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (masked_array(S, mask=HIDDEN), "secret must be known"),
        (np.array([1, 1.0] * 15 + [0] * 30, dtype=object), "are equal and read differently"),
        (np.array([True, 1] * 15 + [0] * 30, dtype=object), "are equal and read differently"),
        (np.array([Decimal("1.0"), Decimal(1)] * 30, dtype=object), "are equal and read"),
        (np.array(["1", 1] * 30, dtype=object), "read alike and differ"),
        (pd.Series([[1, 2]] * N), "secret must hold one value for each row"),
        ([[1], [1, 2]] * 30, "secret must hold one value for each row"),
    ],
)
def test_a_secret_column_that_leaves_open_which_rows_share_a_secret(
    column: Any, words: str
) -> None:
    with pytest.raises(ScenarioError, match=words):
        private().fit(X, Y, secret=column)
    with pytest.raises(ScenarioError, match=words):
        descent(scenario=PrevalenceScenario()).fit(X, Y, secret=column)


def test_a_value_that_one_row_has_is_not_quoted() -> None:
    column = np.where(np.arange(N) == 3, 73122.5, S)
    with pytest.raises(ScenarioError, match=r"1 of the 3 values .* single record") as caught:
        private().fit(X, Y, secret=column)
    assert "73122" not in str(caught.value)
    with pytest.raises(ScenarioError, match=r"1 of the 3 groups .* single record") as caught:
        private(scenario=GroupScenario()).fit(X, Y, secret=column, realized=1)
    assert "73122" not in str(caught.value)


def test_a_column_is_named_in_every_kind_of_table() -> None:
    tables = [
        FRAME,
        pl.from_pandas(FRAME),
        pa.Table.from_pandas(FRAME),
        FRAME.astype(pd.SparseDtype(float, 0.0)),
    ]
    models, coefs = [], []
    for table in tables:
        run = descent(scenario=PrevalenceScenario()).fit(table, Y, secret="s")
        models.append(private().fit(table, Y, secret="s").released_estimator_.coef_)
        coefs.append(run.coef_)
        np.testing.assert_array_equal(run.predict(table), run.predict(FRAME))
        assert run.feature_names_in_.tolist() == ["s", "a", "b"]
    assert all(np.array_equal(coef, coefs[0]) for coef in coefs)
    for coef in models[1:]:  # by rows in another order of memory sums are in another order
        np.testing.assert_allclose(coef, models[0], rtol=1e-6)


@pytest.mark.parametrize(
    ("X", "y", "weight", "words"),
    [
        (masked_array(X, mask=X > 1.5), Y, None, "X contains NaN"),
        (X, masked_array(Y, mask=HIDDEN), None, "y must have a value in every row"),
        (X, Y, masked_array(np.ones(N), mask=HIDDEN), "sample_weight contains NaN"),
        (pd.concat([FRAME, FRAME[["a"]]], axis=1), Y, None, r"several columns of one name \(a\)"),
        (X, np.array(["a", 1] * 30, dtype=object), None, "objects of types int, str"),
    ],
)
def test_gaps_behind_masks_and_twice_named_columns(X: Any, y: Any, weight: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        descent().fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match=words):
        private().fit(X, y, sample_weight=weight)


def test_a_regressors_targets_are_known_and_no_dates() -> None:
    model = SRPPSGDRegressor(budget=4.0, batches=32)
    with pytest.raises(ValueError, match="y must have a value in every row"):
        model.fit(X, masked_array(X[:, 1], mask=HIDDEN))
    with pytest.raises(ValueError, match="y must hold numbers, got datetime64"):
        model.fit(X, pd.date_range("2020", periods=N))


@pytest.mark.parametrize("model", [PACPrivate(MODEL, budget=1.0), SRPPPrivate(MODEL, budget=1.0)])
@pytest.mark.parametrize("weight", [np.ones((N, 1)), pd.DataFrame({"w": np.ones(N)}), 2.0])
def test_weights_are_one_number_a_row(model: Any, weight: Any) -> None:
    with pytest.raises(ValueError, match="sample_weight must hold one number for each row"):
        model.fit(X, Y, sample_weight=weight)


def test_classes_of_another_type_than_the_labels() -> None:
    words = np.where(Y, "yes", "no").astype(object)
    with pytest.raises(ValueError, match="y has labels that are not among the classes"):
        descent(classes=[0, 1]).fit(X, words)
    with pytest.raises(ValueError, match="classes must list the labels"):
        descent(classes=[None, 0, 1]).fit(X, Y)
    assert descent(classes={0, 1}).fit(X, Y).classes_.tolist() == [0, 1]


@pytest.mark.parametrize("table", [None, "abc", {"a": S}, pl.from_pandas(FRAME).lazy()])
def test_what_is_no_table_has_no_function_of_it(table: Any) -> None:
    with pytest.raises(TypeError, match="X must be a table with rows, got an object of type"):
        private(lambda X, y: 1.0).fit(table, None, secret=S)


@pytest.mark.parametrize(
    ("library", "order", "first"),
    [
        (pd.DataFrame, "asb", "s"),
        pytest.param(pl.from_pandas, "sac", "b", marks=pytest.mark.soak),
    ],
)
def test_a_reference_has_the_columns_of_the_table_in_their_order(
    library: Any, order: str, first: str
) -> None:
    rows = library(FRAME.assign(c=0.0)[list(order)])
    scenario = PrevalenceScenario(
        shares=(0.4, 0.6), reference=(rows, None, S), n_draws=100, confidence=0.99
    )
    with pytest.raises(ScenarioError, match=f"X has a column '{first}' where the tables that the"):
        private(lambda X: np.mean(np.asarray(X)), scenario=scenario).fit(FRAME)


def test_a_reference_behind_a_mask() -> None:
    rows = masked_array(X, mask=X > 1.5)
    scenario = PrevalenceScenario(reference=(rows, Y, S), n_draws=100, confidence=0.99)
    with pytest.raises(SubsetFitError, match="a data set of the scenario"):
        private(scenario=scenario).fit(X, Y)


@pytest.mark.parametrize(
    ("model", "words"),
    [(MultinomialNB(), "Negative values"), (PCA(9), "n_components=9 must be between 0")],
)
def test_errors_that_quote_nothing_of_a_row_are_passed_on(model: Any, words: str) -> None:
    with pytest.raises(SubsetFitError, match=words):
        private(model).fit(X, Y, secret=S)
