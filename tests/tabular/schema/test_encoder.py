from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from pacsklearn import Answers, Nats, PACPrivate, Subsets
from pacsklearn.exceptions import UtilityWarning
from pacsklearn.plugins import registry
from pacsklearn.tabular import Column, Schema, SchemaEncoder

pd = pytest.importorskip("pandas", reason="pandas is not installed")


def test_every_kind_by_hand(codebook, frame):
    encoder = SchemaEncoder(codebook.drop("note")).fit(frame)
    found = pd.DataFrame(encoder.transform(frame), columns=encoder.get_feature_names_out())
    assert found["age"].tolist() == [0.5, 0.0, 1.0, 1.0]  # 130 is moved to the end of the range
    assert "age missing" not in found  # required
    middle = np.log1p(5e5) / np.log1p(1e6)
    np.testing.assert_allclose(found["income"], [0, middle, 0.5, middle], atol=1e-7)
    assert found["income missing"].tolist() == [0, 1, 0, 1]
    assert found[[f"ward={v}" for v in ("north", "south", "east")]].to_numpy().tolist() == [
        [1, 0, 0],
        [0, 0, 0],
        [0, 0, 0],
        [0, 0, 0],  # mars is no ward
    ]
    assert found["ward missing"].tolist() == [0, 1, 1, 0]
    assert found[["grade>=mid", "grade>=high"]].to_numpy().tolist() == [
        [0, 0],
        [1, 1],
        [0, 0],
        [1, 0],
    ]
    assert found["smoker=yes"].tolist() == [1, 0, 0, 0]
    assert found["seen"].tolist() == [0, 0.5, 1, 1]
    assert not any(name.startswith("id") for name in found)


@pytest.mark.parametrize(
    ("facts", "encoding", "names", "rows"),
    [
        ({"low": 0, "high": 4}, "thermometer", ["v>=2"], [[0], [1], [1]]),
        ({"low": 0, "high": 4}, "bins", ["v[..,2)", "v[2,..)"], [[1, 0], [0, 1], [0, 1]]),
        ({"edges": (2, 3)}, "thermometer", ["v>=2", "v>=3"], [[0, 0], [1, 0], [1, 1]]),
        ({"kind": "category", "categories": (1, 3)}, "ordinal", ["v"], [[0], [-1], [1]]),
        ({"kind": "boolean", "categories": (1, 2)}, "flag", ["v=2"], [[0], [1], [0]]),
    ],
)
def test_encodings_of_single_columns(facts, encoding, names, rows):
    schema = Schema([Column("v", required=True, **facts)])
    encoder = SchemaEncoder(schema, n_bins=2, encodings={"v": encoding})
    given = np.array([[1], [2], [3]])
    assert encoder.fit_transform(given).tolist() == rows
    assert encoder.get_feature_names_out().tolist() == names


def test_words_are_hashed_or_looked_up_in_a_public_vocabulary():
    rows = np.array([["Fever fever COUGH"], ["nothing"], [None]], dtype=object)
    listed = Schema([Column("note", "text", vocabulary=("cough", "fever"))])
    found = SchemaEncoder(listed).fit_transform(rows)
    np.testing.assert_allclose(found[0], np.array([1, 2, 0]) / np.sqrt(5))
    assert found[1:].tolist() == [[0, 0, 0], [0, 0, 1]]
    hashed = SchemaEncoder(Schema([Column("note", "text")]), text_features=16)
    found = hashed.fit_transform(rows)
    assert found.shape == (3, 17)
    np.testing.assert_allclose(np.square(found[:, :-1]).sum(axis=1), [1, 1, 0])
    one = SchemaEncoder(hashed.schema, text_features=16, sparse_output=True).fit_transform(rows)
    assert sparse.issparse(one)
    np.testing.assert_array_equal(one.toarray(), found)


@pytest.mark.parametrize("numbers", ["bins", "thermometer", "scaled"])
def test_sparse_numbers(numbers):
    schema = Schema([Column("a", low=0.0, high=4.0), Column("b", low=0.0, high=4.0)])
    rows = np.array([[1.0, 3.0], [2.0, 0.0]])
    encoder = SchemaEncoder(schema, numbers=numbers, missing="ignore")
    one = clone(encoder).set_params(sparse_output=True).fit_transform(rows)
    np.testing.assert_array_equal(one.toarray(), encoder.fit_transform(rows))


def test_every_container_gives_the_same_numbers(codebook, frame):
    pl = pytest.importorskip("polars", reason="polars is not installed")
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    encoder = SchemaEncoder(codebook)
    expected = encoder.fit_transform(frame)
    for table in (pl.from_pandas(frame), pa.Table.from_pandas(frame), frame[frame.columns[::-1]]):
        np.testing.assert_array_equal(clone(encoder).fit_transform(table), expected)
    array = frame[list(codebook.names)].to_numpy(dtype=object)
    np.testing.assert_array_equal(clone(encoder).fit_transform(array), expected)
    np.testing.assert_array_equal(encoder.transform(array.tolist()), expected)


def test_nothing_is_learned_from_the_rows(codebook, frame):
    """Attack: rows chosen to differ as much as they can leave no trace in what fit learns."""
    others = frame.assign(age=[-5, 1e9, 3, 4], ward="venus", note="secret")
    one, two = SchemaEncoder(codebook).fit(frame), SchemaEncoder(codebook).fit(others)
    assert pickle.dumps(vars(one)) == pickle.dumps(vars(two))
    np.testing.assert_array_equal(one.transform(frame), two.transform(frame))
    np.testing.assert_array_equal(
        one.transform(frame), np.vstack([one.transform(frame[i : i + 1]) for i in range(4)])
    )


@pytest.mark.parametrize(("column", "count"), [("age", 1), ("ward", 1), ("smoker", 1), ("seen", 1)])
def test_outside_values_can_be_refused_without_quoting_them(codebook, frame, column, count):
    encoder = SchemaEncoder(codebook.select([column]), outside="error").fit(frame)
    with pytest.raises(ValueError, match=f"{column!r}: {count} of 4 values are outside") as caught:
        encoder.transform(frame)
    assert not any(word in str(caught.value) for word in ("130", "mars", "perhaps", "2030"))


def test_missing_values_can_be_refused(frame):
    schema = Schema([Column("income", low=-10, high=1e6, required=True)])
    encoder = SchemaEncoder(schema, outside="error").fit(frame)
    with pytest.raises(ValueError, match="missing"):
        encoder.transform(frame)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"missing": "drop"}, "missing"),
        ({"outside": "clip"}, "outside"),
        ({"n_bins": 1}, "n_bins"),
        ({"numbers": "onehot"}, "encoded"),
        ({"encodings": {"z": "onehot"}}, "column"),
        ({"encodings": {"note": "vocabulary"}}, "vocabulary"),
        ({"schema": Schema([Column("age")])}, "range"),
        ({"schema": Schema([Column("id", "ignored")])}, "ignored"),
        ({"encodings": 3}, "encodings"),
        ({"sparse_output": "yes"}, "sparse_output"),
    ],
)
def test_wrong_parameters(codebook, frame, parameters, said):
    with pytest.raises(ValueError, match=said):
        SchemaEncoder(**{"schema": codebook, **parameters}).fit(frame)


def test_wrong_tables(codebook, frame):
    with pytest.raises(TypeError, match="schema"):
        SchemaEncoder({}).fit(frame)
    with pytest.raises(ValueError, match="lists"):
        SchemaEncoder(codebook).fit(frame.drop(columns="ward"))
    with pytest.raises(ValueError, match="schema"):
        SchemaEncoder(codebook).fit(np.zeros((3, 2)))


def mixed(n, seed=0):
    rng = np.random.default_rng(seed)
    ward = rng.choice(["north", "south", None, "?"], n)
    age = rng.uniform(0, 100, n)
    y = np.where((age > 50) ^ (rng.uniform(size=n) < 0.1), "ill", "well")
    return pd.DataFrame({"age": np.where(age > 95, np.nan, age), "ward": ward, "id": range(n)}), y


@pytest.fixture
def patients():
    return Schema(
        [
            Column("age", low=0, high=120),
            Column("ward", "category", categories=("north", "south", "east"), missing=("?",)),
        ]
    )


@pytest.mark.product(only=1)
@pytest.mark.parametrize("container", ["pandas", "polars", "arrow"])
def test_a_mixed_table_is_released_by_parameters(patients, container):
    X, y = mixed(400)
    if container == "polars":
        X = pytest.importorskip("polars").from_pandas(X)
    if container == "arrow":
        X = pytest.importorskip("pyarrow").Table.from_pandas(X)
    model = make_pipeline(SchemaEncoder(patients, numbers="thermometer"), LogisticRegression())
    private = PACPrivate(model, budget=Nats(2.0), secret=Subsets(16)).fit(X, y)
    assert private.score(X, y) > 0.75  # 0.866 +- 0.011 over fits
    assert list(private.released_estimator_[:-1].feature_names_in_) == ["age", "ward", "id"]
    assert "schema_" in private.guarantee_.public
    assert not any("confirmed" in fact for fact in private.guarantee_.public)
    np.testing.assert_array_equal(
        private.predict(X), pickle.loads(pickle.dumps(private.released_estimator_)).predict(X)
    )


def test_the_guarantee_names_facts_that_were_looked_up_and_confirmed(patients):
    X, y = mixed(100)
    drafted = Schema.template(X).drop("id").confirm()
    model = make_pipeline(SchemaEncoder(drafted), LogisticRegression())
    public = PACPrivate(model, secret=Subsets(8)).fit(X, y).guarantee_.public
    assert any(
        "looked up in the rows and confirmed as public for age, ward" in fact for fact in public
    )


def test_answers_about_mixed_tables(patients):
    from sklearn.tree import DecisionTreeClassifier

    X, y = mixed(200)
    model = make_pipeline(SchemaEncoder(patients), DecisionTreeClassifier(max_depth=2))
    private = PACPrivate(model, budget=Nats(1.0), release=Answers(100), secret=Subsets(8)).fit(X, y)
    assert (private.predict(X[:50]) == y[:50]).mean() > 0.6


def test_the_canonicalizer_needs_no_noise(patients):
    X, _ = mixed(50)
    fitted = SchemaEncoder(patients).fit(X)
    canonicalizer = registry().canonicalizer_for(fitted)
    vector, layout = canonicalizer.encode(fitted, X)
    assert vector.size == 0
    again = canonicalizer.decode(vector, layout, clone(fitted))
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    other = canonicalizer.encode(SchemaEncoder(patients.drop("ward")).fit(X), X).layout
    assert layout.differences(other) == ["schema_ differs"]


def test_what_the_codebook_refuses_is_said_before_any_candidate(patients):
    """Inside a candidate the words of an error are withheld, and these quote no row."""
    X, y = mixed(60)
    draft = Schema.template(X).drop("id")
    for encoder, said in [
        (SchemaEncoder(draft), "looked up in private rows, about the columns age, ward"),
        (SchemaEncoder(patients, n_bins=0), "n_bins must be"),
        (SchemaEncoder(Schema([Column("weight", low=0, high=9)])), "no column 'weight'"),
        (
            SchemaEncoder(Schema([Column("age", low=0, high=9)]), outside="error"),
            "of 60 values are outside",
        ),
    ]:
        with pytest.raises(ValueError, match=said):
            PACPrivate(make_pipeline(encoder, LogisticRegression()), secret=Subsets(8)).fit(X, y)


def test_columns_of_which_nothing_is_read_are_named_before_the_fit():
    rows = pd.DataFrame(
        {
            "weight": ["71,5", "80,25"] * 20,
            "seen": ["29.02.2024", None] * 20,
            "ward": ["north ", "south "] * 20,
            "age": [34.0, None] * 20,
            "left": [None, None] * 20,
        }
    )
    schema = Schema(
        [
            Column("weight", low=0, high=200),
            Column("seen", "date", low="2020-01-01", high="2025-12-31"),
            Column("ward", "category", categories=("north", "south")),
            Column("age", low=0, high=120),
            Column("left", "boolean"),
        ]
    )
    own = [SchemaEncoder(schema), LogisticRegression()]
    model = PACPrivate(make_pipeline(*own), budget=1 / 4, secret=Subsets(16))
    with pytest.warns(UtilityWarning, match="no value of weight, seen, ward:"):
        model.fit(rows, np.arange(40) % 2)
