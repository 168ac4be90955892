"""What is peculiar to one family: exchangeable parts, public structure, reasons to refuse."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import (
    ColumnTransformer,
    TransformedTargetRegressor,
    make_column_selector,
)
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import NMF, PCA, FactorAnalysis, FastICA, TruncatedSVD
from sklearn.ensemble import VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.random_projection import GaussianRandomProjection
from sklearn.svm import LinearSVC

from pacsklearn import Nats, PACPrivate, Subsets
from pacsklearn.canonical.log_domain import from_log, log_simplex, mean_metric, simplex, to_log
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.plugins import registry

Floats = NDArray[np.float64]
X, Y = load_iris(return_X_y=True)


def canonicalizer_of(estimator: Any) -> Any:
    return registry().canonicalizer_for(estimator)


def aligned(estimator: Any, models: list[Any]) -> Floats:
    canonicalizer = canonicalizer_of(estimator)
    encodings = [canonicalizer.encode(model, X) for model in models]
    vectors = np.stack([encoding.vector for encoding in encodings])
    found: Floats = canonicalizer.align(vectors, encodings[0].layout)
    return found


def test_renamed_components_of_a_mixture_are_one_candidate(generator: np.random.Generator) -> None:
    model = GaussianMixture(4, random_state=0).fit(X)
    renamed = [model]
    for _ in range(3):
        order, other = generator.permutation(4), clone(model)
        for name in ("weights_", "means_", "covariances_", "precisions_cholesky_"):
            setattr(other, name, getattr(model, name)[order])
        other.n_features_in_ = 4
        renamed.append(other)
    assert np.ptp(aligned(model, renamed), axis=0) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("activation", ["tanh", "relu", "logistic", "identity"])
def test_renamed_units_are_one_candidate(activation: str, generator: np.random.Generator) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MLPClassifier((6, 5), activation=activation, max_iter=15, random_state=0).fit(X, Y)
    twin = clone(model).set_params(max_iter=15)
    for name, value in vars(model).items():
        setattr(twin, name, value)
    twin.coefs_ = [layer.copy() for layer in model.coefs_]
    twin.intercepts_ = [bias.copy() for bias in model.intercepts_]
    for depth in range(2):
        k = twin.intercepts_[depth].size
        order, factor = generator.permutation(k), np.ones(k)
        if activation in ("tanh", "identity"):
            factor = generator.choice([-1.0, 1.0], k)
        if activation in ("relu", "identity"):
            factor = factor * generator.uniform(0.2, 5, k)
        twin.coefs_[depth] = (twin.coefs_[depth] * factor)[:, order]
        twin.intercepts_[depth] = (twin.intercepts_[depth] * factor)[order]
        twin.coefs_[depth + 1] = (twin.coefs_[depth + 1] / factor[:, None])[order]
    assert twin.predict_proba(X) == pytest.approx(model.predict_proba(X), abs=1e-12)
    vectors = aligned(model, [model, twin])
    assert np.ptp(vectors, axis=0) == pytest.approx(0.0, abs=1e-9)


def test_rescaled_factors_are_one_candidate(generator: np.random.Generator) -> None:
    model = NMF(3, init="nndsvda", max_iter=2000).fit(X)
    twin = NMF(3).fit(X)
    twin.components_ = generator.permutation(model.components_) * [[2.0], [0.3], [7.0]]
    assert np.ptp(aligned(model, [model, twin]), axis=0) == pytest.approx(0.0, abs=1e-12)


def test_logarithms_of_covariances(generator: np.random.Generator) -> None:
    root = generator.normal(size=(5, 5))
    covariance = root @ root.T + np.eye(5)
    variances, axes = np.linalg.eigh(covariance)
    upper = to_log(axes, variances)
    assert from_log(upper, 5) == pytest.approx(covariance)
    # Signs and the order of axes are gone.
    again = to_log(axes[:, ::-1] * [1, -1, 1, -1, 1], variances[::-1])
    assert again == pytest.approx(upper)
    move = generator.normal(size=5)
    cost = float(np.sum(mean_metric(upper, 5).root(move[None]) ** 2))
    assert cost == pytest.approx(float(move @ np.linalg.solve(covariance, move)))


def test_probabilities_from_any_numbers(generator: np.random.Generator) -> None:
    for size in (1.0, 1e3, 1e12):
        told = size * generator.normal(size=(4, 6))
        probabilities = simplex(told)
        assert np.all(probabilities > 0)
        assert probabilities.sum(axis=1) == pytest.approx(np.ones(4))
        assert np.array_equal(probabilities.argmax(axis=1), told.argmax(axis=1))
    known = generator.dirichlet(np.ones(5))
    assert np.exp(log_simplex(np.log(known) + 3.0)) == pytest.approx(known)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (OneHotEncoder(), "categories"),
        (OrdinalEncoder(), "write|written down without looking"),
        (OneHotEncoder(categories=[[0, 1]], max_categories=1), "max_categories"),
        (OrdinalEncoder(categories=[[0, 1]], min_frequency=2), "min_frequency"),
        (CategoricalNB(), "min_categories"),
        (SimpleImputer(strategy="most_frequent"), "strategy"),
        (SimpleImputer(add_indicator=True), "add_indicator=False"),
        (
            TransformedTargetRegressor(Ridge(), transformer=QuantileTransformer()),
            "transformer",
        ),
        (
            TransformedTargetRegressor(PoissonRegressor(), transformer=StandardScaler()),
            "learns",
        ),
        (CountVectorizer(), "vocabulary"),
        (TfidfVectorizer(vocabulary=["a"]), "use_idf=False"),
        (HashingVectorizer(), "n_features"),
        (GaussianRandomProjection(), "n_components"),
        (RBFSampler(gamma="scale"), "gamma"),
        (make_pipeline(NMF(2), LinearSVC()), "turn"),
        (ColumnTransformer([("a", OneHotEncoder(), [0])]), "categories"),
    ],
    ids=repr,
)
def test_why_not(estimator: Any, message: str) -> None:
    with pytest.raises(NoCanonicalizerError, match=message):
        canonicalizer_of(estimator)


def test_only_steps_that_keep_rows_apart_take_all_of_them_at_once() -> None:
    class Mixing(RBFSampler):
        def transform(self, X: Any) -> Any:
            return super().transform(X - np.mean(X, axis=0))

    assert canonicalizer_of(RBFSampler(gamma=0.1)).is_public
    for step in (Mixing(gamma=0.1), FunctionTransformer(np.sort), Normalizer(copy=False)):
        assert not canonicalizer_of(step).is_public


def test_scores_that_are_compared_keep_their_scale() -> None:
    model = OneVsRestClassifier(LinearSVC(random_state=0)).fit(X, Y)
    model.estimators_[0].coef_ = model.estimators_[0].coef_ * 5
    model.estimators_[0].intercept_ = model.estimators_[0].intercept_ * 5
    canonicalizer = canonicalizer_of(model)
    released = canonicalizer.decode(*canonicalizer.encode(model, X), clone(model))
    assert released.decision_function(X) == pytest.approx(model.decision_function(X))


def test_given_priors_are_public() -> None:
    model = GaussianNB(priors=[0.2, 0.3, 0.5]).fit(X, Y)
    canonicalizer = canonicalizer_of(model)
    vector, layout = canonicalizer.encode(model, X)
    assert layout.size == 2 * 3 * 4
    released = canonicalizer.decode(vector + 0.1, layout, clone(model))
    assert np.array_equal(released.class_prior_, [0.2, 0.3, 0.5])


def test_a_union_turns_a_part_only_when_it_stands_last() -> None:
    X = load_breast_cancer().data
    union = FeatureUnion([("scale", StandardScaler()), ("axes", PCA(3))])
    released = PACPrivate(
        union, secret=Subsets(8), budget=Nats(10.0, allow_exact=True), random_state=0
    )
    with pytest.warns(UserWarning, match="predictable|reproducible"):
        released.fit(X)
    axes = dict(released.released_estimator_.transformer_list)["axes"].components_
    assert axes @ axes.T == pytest.approx(np.eye(3))


def test_columns_of_a_data_frame_with_names_kept() -> None:
    pd = pytest.importorskip("pandas")
    bunch = load_iris(as_frame=True)
    frame = bunch.data.assign(kind=np.where(bunch.data.iloc[:, 0] > 5.5, "long", "short"))
    columns = ColumnTransformer(
        [
            ("numbers", StandardScaler(), make_column_selector(dtype_include="number")),
            ("kind", OneHotEncoder(categories=[["long", "short"]], sparse_output=False), ["kind"]),
            ("gone", "drop", ["sepal width (cm)"]),
        ],
        verbose_feature_names_out=False,
    )
    canonicalizer = canonicalizer_of(columns)
    model = clone(columns).fit(frame)
    vector, layout = canonicalizer.encode(model, frame)
    assert layout.size == 8
    released = canonicalizer.decode(vector, layout, clone(columns))
    assert released.transform(frame) == pytest.approx(model.transform(frame))
    assert list(released.get_feature_names_out()) == list(model.get_feature_names_out())
    assert released.transformers is not model.transformers
    assert [name for name, _, _ in released.transformers] == ["numbers", "kind", "gone"]
    assert not hasattr(released.transformers[0][1], "mean_")
    told = pd.DataFrame(released.set_output(transform="pandas").transform(frame))
    assert list(told.columns) == list(model.get_feature_names_out())
    private = PACPrivate(
        make_pipeline(columns, LogisticRegression(max_iter=500)),
        secret=Subsets(8),
        budget=Nats(3.0, allow_exact=True),
    )
    assert private.fit(frame, bunch.target).score(frame, bunch.target) > 0.8
    assert not hasattr(clone(columns), "_sklearn_output_config")


def test_rows_with_missing_values_inside_a_pipeline() -> None:
    rows, hidden = X.copy(), np.random.default_rng(0).random(X.shape) < 0.1
    rows[hidden] = np.nan
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), LinearSVC())
    private = PACPrivate(pipeline, secret=Subsets(8), budget=Nats(3.0, allow_exact=True)).fit(
        rows, Y
    )
    assert private.score(rows, Y) > 0.7


def test_dropped_voters_stay_dropped() -> None:
    votes = VotingClassifier([("a", GaussianNB()), ("b", "drop"), ("c", LinearSVC())])
    canonicalizer = canonicalizer_of(votes)
    model = clone(votes).fit(X, Y)
    released = canonicalizer.decode(*canonicalizer.encode(model, X), clone(votes))
    assert released.named_estimators_["b"] == "drop"
    assert np.array_equal(released.predict(X), model.predict(X))


def test_exponents_of_small_features_are_small_numbers() -> None:
    rows = load_breast_cancer().data
    model = PowerTransformer().fit(rows)
    canonicalizer = canonicalizer_of(model)
    vector, layout = canonicalizer.encode(model, rows)
    assert np.abs(model.lambdas_).max() > 100
    assert np.abs(layout.unpack(vector)["curvature"]).max() < 1
    released = canonicalizer.decode(vector, layout, PowerTransformer())
    assert released.lambdas_ == pytest.approx(model.lambdas_, rel=1e-9)
    assert released.transform(rows) == pytest.approx(model.transform(rows), abs=1e-9)


@pytest.mark.parametrize(
    ("estimator", "noised"),
    [
        (PCA(2), "components_ mean_"),
        (PCA(2, whiten=True), "components_ mean_ explained_variance_"),
        (TruncatedSVD(2), "components_"),
        (FastICA(2), "components_ mean_ mixing_"),
        (FastICA(whiten=False), "components_ mixing_"),
        (FactorAnalysis(2), "components_ mean_ noise_variance_"),
        (GaussianNB(), "theta_ var_ class_prior_"),
        (GaussianNB(priors=[0.2, 0.3, 0.5]), "theta_ var_"),
        (BernoulliNB(binarize=3.0, fit_prior=False), "feature_log_prob_"),
        (ComplementNB(), "feature_log_prob_"),
        (StandardScaler(with_std=False), "mean_"),
        (MaxAbsScaler(), "scale_"),
        (MinMaxScaler(), "min_ scale_"),
        (RobustScaler(with_centering=False), "scale_"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_statement_names_what_is_noised_of_this_estimator(estimator: Any, noised: str) -> None:
    X, y = load_iris(return_X_y=True)
    released = PACPrivate(estimator, budget=1.0, secret=Subsets(4)).fit(X, y)
    assert released.guarantee_.released == tuple(noised.split())
    for name in noised.split():
        assert np.all(np.isfinite(getattr(released.released_estimator_, name)))
