from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from onnxruntime import InferenceSession
from pacsklearn_publish.onnx_file import largest_difference, onnx_file, onnx_model
from pacsklearn_publish.probe_rows import probe_rows
from sklearn import linear_model as linear
from sklearn.cluster import BisectingKMeans, KMeans
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA, FactorAnalysis, FastICA, SparsePCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import RBFSampler
from sklearn.multiclass import OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    StandardScaler,
)
from sklearn.random_projection import SparseRandomProjection
from sklearn.svm import LinearSVC

from pacsklearn import PACPrivate, Parameters, Subsets
from pacsklearn.priors import Range
from pacsklearn.tabular import (
    AdditiveClassifier,
    AdditiveRegressor,
    Column,
    FixedStructureForestClassifier,
    FixedStructureForestRegressor,
    Schema,
    SchemaEncoder,
    StepwiseClassifier,
    StepwiseRegressor,
)

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

SCHEMA = Schema(
    [
        Column("age", low=0, high=100, missing=(-1,)),
        Column("income", low=0, high=1e5, scale="log"),
        Column("dose", edges=(1, 2, 5)),
        Column("ward", "category", categories=("north", "south", "west"), missing=("?",)),
        Column("stage", "category", categories=(1, 2, 3), ordered=True),
        Column("smoker", "boolean", categories=("no", "yes")),
        Column("since", "date", low="2000-01-01", high="2020-01-01", required=True),
    ]
)


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(1)
    size = 200
    return pd.DataFrame(
        {
            "age": generator.choice([-1, 20, 40.5, 99, np.nan], size),
            "income": generator.uniform(0, 9e4, size),
            "dose": generator.uniform(0, 6, size),
            "ward": generator.choice(["north", "south", "west", "?"], size),
            "stage": generator.choice([1, 2, 3], size),
            "smoker": generator.choice(["no", "yes"], size),
            "since": generator.choice(["2001-02-03", "2011-12-13"], size),
        }
    )


def fitted_on_iris(estimator, iris):
    return estimator.fit(*iris)


MEMBERS = [("a", linear.LogisticRegression(C=0.1)), ("b", linear.LogisticRegression(C=1e-3))]
MEANS = [("a", linear.Ridge()), ("b", "drop"), ("c", linear.Lasso(alpha=0.1))]
ENCODINGS = ("onehot", "onehot-dense", "ordinal")
OWN = [
    FixedStructureForestClassifier(4, 3),
    FixedStructureForestRegressor(3, 2, target_range=(0.5, 1.5)),
    AdditiveClassifier(feature_range=(0, 8)),
    AdditiveRegressor(feature_range=(0, 8), value_range=(0.2, 1.8)),
    NearestCentroid(),
    NearestCentroid(metric="manhattan"),
    NearestCentroid(priors=[0.2, 0.2, 0.6]),
    LinearSVC(),
    linear.RidgeClassifier(),
    linear.Lasso(alpha=0.1),
    linear.HuberRegressor(max_iter=1000),
    linear.RidgeClassifierCV(),
    linear.SGDClassifier("log_loss", random_state=0),
    linear.SGDClassifier("modified_huber", random_state=0),
    *(StepwiseClassifier(), StepwiseRegressor(2)),
    *(linear.ARDRegression(), linear.BayesianRidge(), linear.ElasticNetCV(cv=2), linear.RidgeCV()),
    *(linear.Lars(), linear.LassoLarsIC(), linear.OrthogonalMatchingPursuit(n_nonzero_coefs=2)),
    *(linear.QuantileRegressor(), linear.TheilSenRegressor(max_subpopulation=20, random_state=0)),
    linear.SGDRegressor(alpha=10.0, eta0=1e-4, random_state=0),
    TransformedTargetRegressor(linear.Ridge()),
    BernoulliNB(binarize=3.0),
    OneVsRestClassifier(linear.LogisticRegression(C=0.01)),
    OneVsRestClassifier(LinearSVC()),
    OutputCodeClassifier(LinearSVC(), code_size=4, random_state=0),
    OutputCodeClassifier(linear.LogisticRegression(), code_size=1, random_state=1),
    VotingClassifier(MEMBERS, voting="soft", weights=[1, 3]),
    VotingClassifier(MEMBERS),
    VotingRegressor([("a", linear.Ridge()), ("b", linear.LinearRegression())], weights=[2, 1]),
    VotingRegressor([("a", linear.Ridge()), ("b", "drop"), ("c", linear.Lasso())]),
    make_pipeline(StandardScaler(), VotingRegressor(MEANS, weights=[1, 2, 3])),
    *(FactorAnalysis(2), FastICA(2, random_state=0), SparsePCA(2, random_state=0, max_iter=20)),
    SparseRandomProjection(2, random_state=0),
    RBFSampler(gamma=0.01, n_components=7, random_state=0),
    make_pipeline(PolynomialFeatures(3, include_bias=False), linear.Ridge()),
    *(KBinsDiscretizer(4, encode=form, strategy="uniform") for form in ENCODINGS),
    *(PowerTransformer(), PowerTransformer(standardize=False)),
    make_pipeline(StandardScaler(), OneVsRestClassifier(linear.LogisticRegression())),
    make_pipeline(SimpleImputer(), "passthrough", NearestCentroid()),
    make_pipeline("passthrough", StandardScaler(), FixedStructureForestClassifier(2, 2)),
]
THEIRS = [
    make_pipeline(StandardScaler(), "passthrough", linear.LogisticRegression()),
    make_pipeline(SimpleImputer(), GaussianNB()),
    LinearDiscriminantAnalysis(),
    KMeans(3, n_init=2, random_state=0),
    PCA(2),
]


@pytest.mark.product(only=16)
@pytest.mark.parametrize("estimator", OWN + THEIRS, ids=lambda e: type(e).__name__)
def test_outputs_are_the_same(estimator, iris):
    model = fitted_on_iris(estimator, iris)
    content = onnx_model(model).SerializeToString()
    apart, rows = largest_difference(model, content)
    assert apart < 1e-6
    assert rows == 512
    assert onnx_file(model).content is not None


@pytest.mark.parametrize(
    "estimator",
    [linear.SGDClassifier("log_loss", random_state=0), linear.SGDClassifier(random_state=0),
     OneVsRestClassifier(linear.LogisticRegression(C=0.01)), BernoulliNB(),
     VotingClassifier(MEMBERS, voting="soft"), VotingClassifier(MEMBERS),
     linear.SGDClassifier("modified_huber", random_state=0), StepwiseClassifier(),
     LinearDiscriminantAnalysis(), linear.Perceptron(random_state=0)],
    ids=lambda e: type(e).__name__,
)  # fmt: skip
def test_two_classes(estimator, iris):
    X, y = iris[0] - iris[0].mean(axis=0), iris[1] == 1
    for labels in (y, np.where(y, "yes", "no")):
        assert largest_difference(*_exported(estimator.fit(X, labels)))[0] < 1e-6


@pytest.mark.parametrize(
    "estimator",
    [
        OneVsRestClassifier(linear.LogisticRegression()),
        linear.SGDClassifier("log_loss", random_state=0),
    ],
)
def test_rows_of_which_no_class_is_likely(estimator, iris):
    """Their probabilities were NaN."""
    model = estimator.fit(*iris)
    content = onnx_model(model).SerializeToString()
    base = np.vstack([np.eye(4), -np.eye(4), iris[0][::50], -iris[0][::50]])
    rows = np.vstack([size * base for size in (1.0, 30.0, 100.0, 1e6)])
    expected = model.predict_proba(rows)
    (found,) = InferenceSession(content).run(["probabilities"], {"X": rows})
    assert np.allclose(found, expected)


def test_several_targets(iris):
    y = np.column_stack([iris[1], iris[0][:, 0]])
    model = MultiOutputRegressor(linear.Ridge()).fit(iris[0], y)
    assert largest_difference(*_exported(model))[0] < 1e-9


def test_what_reads_categories_is_compared_on_categories(iris):
    codes = np.digitize(iris[0], [2, 4, 6]).astype(float)
    known = [[0.0, 1.0, 2.0, 3.0]] * 4
    for model in (
        CategoricalNB(min_categories=4).fit(codes, iris[1]),
        OneHotEncoder(categories=known).fit(codes),
        OrdinalEncoder(categories=known).fit(codes),
        make_pipeline(OneHotEncoder(categories=known), linear.Ridge()).fit(codes, iris[1]),
    ):
        rows = probe_rows(model)
        assert set(np.unique(rows)) == {0.0, 1.0, 2.0, 3.0}
        assert largest_difference(*_exported(model))[0] < 1e-6


def test_powers_of_positive_columns(iris, monkeypatch):
    import pacsklearn_publish.onnx_file as module

    model = PowerTransformer("box-cox").fit(iris[0])
    model.lambdas_[1] = 0.0  # a logarithm
    monkeypatch.setattr(module, "probe_rows", lambda one: np.abs(probe_rows(one)))
    assert largest_difference(*_exported(model))[0] < 1e-9


def _exported(model):
    return model, onnx_model(model).SerializeToString()


@pytest.mark.product(only=2)
@pytest.mark.parametrize("classes", [("a", "b"), ("a", "b", "c"), (0, 1, 2)])
@pytest.mark.parametrize("encoded", [True, False])
def test_tables_go_in_column_by_column(table, classes, encoded):
    y = np.array(classes)[np.arange(len(table)) % len(classes)]
    model = (
        make_pipeline(
            SchemaEncoder(SCHEMA, encodings={"age": "thermometer", "dose": "bins"}),
            linear.LogisticRegression(max_iter=1000),
        )
        if encoded
        else AdditiveClassifier(SCHEMA, pairs=[("age", "ward"), ("dose", "smoker")])
    ).fit(table, y)
    made = onnx_model(model)
    assert {value.name for value in made.graph.input} == set(SCHEMA.names)
    assert largest_difference(model, made.SerializeToString())[0] < 1e-9


@pytest.mark.parametrize("categories", ["onehot", "ordinal"])
def test_every_encoding_of_categories(table, categories):
    encoder = SchemaEncoder(SCHEMA, categories=categories, ordered="thermometer").fit(table)
    assert largest_difference(encoder, onnx_model(encoder).SerializeToString())[0] < 1e-9


def test_what_has_no_operator_says_so(iris, table):
    text = Schema([*SCHEMA.columns, Column("note", "text")])
    table = table.assign(note="some words")
    encoder = SchemaEncoder(text).fit(table)
    assert onnx_file(encoder) == (None, "no operator for texts such as column 'note'")
    model = BisectingKMeans(3, random_state=0).fit(iris[0])
    assert onnx_file(model).note.startswith("BisectingKMeans has no converter")


def test_a_form_that_differs_is_left_out(iris, monkeypatch):
    import pacsklearn_publish.onnx_file as module

    model = linear.Ridge().fit(*iris)
    other = linear.Ridge(alpha=50).fit(*iris)
    made = onnx_model(other)
    monkeypatch.setattr(module, "onnx_model", lambda _: made)
    found = onnx_file(model)
    assert found.content is None
    assert "differs by" in found.note
    other.intercept_ = other.intercept_ + np.nan  # once dropped as the smaller of two numbers
    made = onnx_model(other)
    assert onnx_file(model) == (None, "its ONNX form differs by nan of the largest output")


def test_a_bundle_can_demand_it(iris, keys, tmp_path):
    from pacsklearn_publish import load_bundle, publish

    from pacsklearn.exceptions import BundleError

    model = PACPrivate(linear.RidgeClassifier(), secret=Subsets(16)).fit(*iris)
    path = publish(model, tmp_path / "m.pac", key=keys[0], onnx="required")
    found = load_bundle(path, key=keys[1])
    assert largest_difference(found.model(), found.read("model.onnx"))[0] < 1e-9
    assert found.manifest["model"]["onnx"].startswith("the same on 512 made-up rows")
    private = PACPrivate(BisectingKMeans(3, random_state=0), secret=Subsets(16)).fit(iris[0])
    with pytest.raises(BundleError, match="ONNX"):
        publish(private, tmp_path / "n.pac", key=keys[0], onnx="required")


@pytest.mark.product(only=2)
@pytest.mark.parametrize(
    "estimator",
    [
        linear.Ridge(),
        linear.Lasso(),
        make_pipeline(StandardScaler(), linear.LinearRegression()),
        TransformedTargetRegressor(linear.Ridge(), transformer=StandardScaler()),
    ],
)
def test_released_regressors_are_exported_as_fitted_ones_are(estimator, iris):
    """Their intercepts were numbers of Python, which skl2onnx cannot reshape."""
    X, y = iris[0], iris[0] @ np.arange(4.0)
    prior = Parameters(prior=Range(0, 50))
    private = PACPrivate(estimator, release=prior, secret=Subsets(16)).fit(X, y)
    found = onnx_file(private.released_estimator_)
    assert found.note.startswith("the same on 512 made-up rows")


def test_released_naive_bayes_of_bits_is_exported(iris):
    """It holds no counts, and skl2onnx asks for them."""
    for estimator in (BernoulliNB(binarize=3.0), make_pipeline(StandardScaler(), BernoulliNB())):
        private = PACPrivate(estimator, secret=Subsets(16)).fit(*iris)
        found = onnx_file(private.released_estimator_)
        assert found.note.startswith("the same on 512 made-up rows")


@pytest.mark.soak
@pytest.mark.product(only=1)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("encoded", [True, False])
def test_averages_over_the_noise_are_published(table, iris, n_classes, encoded, keys, tmp_path):
    from pacsklearn_publish import load_bundle, publish

    X = table if encoded else iris[0]
    first = SchemaEncoder(SCHEMA) if encoded else StandardScaler()
    private = PACPrivate(
        make_pipeline(first, linear.LogisticRegression(C=0.1)),
        release=Parameters(average=True),
        secret=Subsets(8, seed=0),
    ).fit(X, np.arange(len(X)) % n_classes)
    assert private.released_estimator_.in_closed_form_ == (n_classes == 2)
    path = publish(private, tmp_path / "m.pac", key=keys[0], onnx="required")
    found = load_bundle(path, key=keys[1])
    assert largest_difference(found.model(), found.read("model.onnx"))[0] < 1e-5
    np.testing.assert_array_equal(found.model().predict_proba(X), private.predict_proba(X))


def test_averages_of_other_scores_have_no_operator(iris):
    private = PACPrivate(
        GaussianNB(), release=Parameters(average=True), secret=Subsets(8, seed=0)
    ).fit(*iris)
    found = onnx_file(private.released_estimator_)
    assert found == (None, "no operator for averages of GaussianNB")
