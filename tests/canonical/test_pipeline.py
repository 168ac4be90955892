"""Which steps are folded, which stand side by side, and which cannot be released."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from imblearn.over_sampling import SMOTE, RandomOverSampler
from imblearn.pipeline import make_pipeline as make_resampled
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import VotingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import recall_score
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC

from pacsklearn import Nats, PACPrivate, Subsets
from pacsklearn.canonical.pipeline import PipelineCanonicalizer, SearchCanonicalizer
from pacsklearn.exceptions import GaugeError, NoCanonicalizerError, StructureMismatchError
from pacsklearn.plugins import registry
from pacsklearn.secrets import balanced_space
from pacsklearn.universe.design import candidates_over
from pacsklearn.universe.listed_space import listed_space


def canonicalizer_of(estimator: Any) -> PipelineCanonicalizer:
    found = registry().canonicalizer("auto", estimator)
    assert isinstance(found, PipelineCanonicalizer)
    return found


def structure(estimator: Any) -> tuple[list[str], list[str]]:
    found = canonicalizer_of(estimator)
    return [name for name, _ in found.steps], list(found.folded)


STEPS = [("a", StandardScaler()), ("b", MinMaxScaler())]


@pytest.mark.parametrize(
    ("steps", "released", "folded"),
    [
        ([*STEPS, ("m", LinearSVC())], ["m"], ["a", "b"]),
        ([*STEPS, ("s", SelectKBest(k=2)), ("m", Ridge())], ["m"], ["a", "b", "s"]),
        ([("a", StandardScaler()), ("n", Normalizer()), ("m", Ridge())], ["a", "n", "m"], []),
        (
            [("n", Normalizer()), ("p", PCA(2, whiten=True)), ("m", LinearSVC())],
            ["n", "m"],
            ["p"],
        ),
        ([("b", MinMaxScaler(clip=True)), ("m", LinearSVC())], ["b", "m"], []),
        ([*STEPS, ("m", KMeans(2))], ["a", "b", "m"], []),
        ([*STEPS, ("m", "passthrough")], ["a", "b"], []),
        ([("a", "passthrough"), ("m", LinearSVC())], ["m"], []),
        ([*STEPS, ("m", GridSearchCV(LinearSVC(), {}))], ["m"], ["a", "b"]),
        ([*STEPS, ("m", OneVsRestClassifier(LinearSVC()))], ["m"], ["a", "b"]),
        ([*STEPS, ("m", OneVsRestClassifier(GaussianNB()))], ["a", "b", "m"], []),
        ([*STEPS, ("m", MLPClassifier())], ["m"], ["a", "b"]),
        ([*STEPS, ("m", VotingClassifier([("x", LinearSVC())]))], ["m"], ["a", "b"]),
        ([*STEPS, ("m", make_pipeline(PCA(2), LinearSVC()))], ["m-linearsvc"], ["a", "b", "m-pca"]),
        (
            [*STEPS, ("m", GridSearchCV(make_pipeline(PCA(2), LinearSVC()), {}))],
            ["m-linearsvc"],
            ["a", "b", "m-pca"],
        ),
        ([("i", SimpleImputer()), *STEPS, ("m", Ridge())], ["i", "m"], ["a", "b"]),
        ([*STEPS, ("i", SimpleImputer()), ("m", Ridge())], ["i", "m"], ["a", "b"]),
        ([("p", PCA(2)), ("i", SimpleImputer()), ("m", Ridge())], ["p", "i", "m"], []),
        # A constant is public, and would not be behind a scale that is not.
        (
            [*STEPS, ("i", SimpleImputer(strategy="constant")), ("m", Ridge())],
            ["a", "b", "i", "m"],
            [],
        ),
        ([("u", FeatureUnion(STEPS)), ("m", Ridge())], ["m"], ["u"]),
        ([("u", FeatureUnion([*STEPS, ("n", Normalizer())])), ("m", Ridge())], ["u", "m"], []),
    ],
)
def test_affine_steps_before_a_linear_model_are_folded(
    steps: list[Any], released: list[str], folded: list[str]
) -> None:
    assert structure(Pipeline(steps)) == (released, folded)


def test_a_folded_pipeline_is_released_as_its_linear_model() -> None:
    X, y = load_iris(return_X_y=True)
    estimator = make_pipeline(StandardScaler(), SelectKBest(k=2), LinearSVC())
    canonicalizer = canonicalizer_of(estimator)
    vector, layout = canonicalizer.encode(estimator.fit(X, y), X)
    released = canonicalizer.decode(vector, layout, make_pipeline(*map(type_of, estimator)))
    assert type(released) is LinearSVC
    assert released.coef_.shape == (3, 4)
    folded = "standardscaler and selectkbest (folded into these)"
    assert canonicalizer.noised == ("coef_", "intercept_", folded)


def type_of(step: Any) -> Any:
    return SelectKBest(k=2) if isinstance(step, SelectKBest) else type(step)()


def test_encoding_leaves_the_pipeline_as_it_is() -> None:
    X, y = load_iris(return_X_y=True)
    estimator = make_pipeline(StandardScaler(), SelectKBest(k=2), LinearSVC()).fit(X, y)
    before, width = estimator[-1].coef_.copy(), estimator[-1].n_features_in_
    canonicalizer_of(estimator).encode(estimator, X)
    assert np.array_equal(estimator[-1].coef_, before)
    assert estimator[-1].n_features_in_ == width


def test_the_parts_are_named_by_step() -> None:
    estimator = make_pipeline(PCA(2), KMeans(2))
    assert canonicalizer_of(estimator).noised == (
        "pca: components_",
        "pca: mean_",
        "kmeans: cluster_centers_",
    )


@pytest.mark.parametrize(
    "steps",
    [
        (FunctionTransformer(np.log1p), StandardScaler()),
        (StandardScaler(), SimpleImputer().set_output(transform="pandas")),
        (PCA(2), StandardScaler(), SimpleImputer()),
        (
            make_column_transformer((MinMaxScaler(), [0]), remainder="passthrough").set_output(
                transform="pandas"
            ),
            MinMaxScaler(),
            SimpleImputer(),
        ),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("error")
def test_names_of_features_are_those_that_the_step_before_hands_on(steps: Any) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    blank = make_pipeline(*steps, LogisticRegression(max_iter=1000))
    estimator = clone(blank).fit(X, y)
    canonicalizer = canonicalizer_of(blank)
    released = canonicalizer.decode(*canonicalizer.encode(estimator, X), clone(blank))
    np.testing.assert_allclose(released.predict_proba(X), estimator.predict_proba(X), rtol=1e-6)


def test_names_of_features_are_those_of_the_input() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    estimator = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    canonicalizer = canonicalizer_of(estimator)
    blank = make_pipeline(StandardScaler(), LogisticRegression())
    released = canonicalizer.decode(*canonicalizer.encode(estimator, X), blank)
    assert released.feature_names_in_.tolist() == X.columns.tolist()
    assert np.array_equal(released.predict(X), estimator.predict(X))


@pytest.mark.parametrize("off", ["a", "s"])
def test_a_step_switched_off_by_a_search(off: str) -> None:
    X, y = load_iris(return_X_y=True)
    base = Pipeline([("a", StandardScaler()), ("s", SelectKBest(k=2)), ("m", LinearSVC())])
    model = clone(base).set_params(**{off: "passthrough"}).fit(X, y)
    canonicalizer = canonicalizer_of(base)
    released = canonicalizer.decode(*canonicalizer.encode(model, X), base)
    assert np.array_equal(released.predict(X), model.predict(X))


def test_a_step_folded_wrongly_shows_in_the_behaviour() -> None:
    X, y = load_iris(return_X_y=True)
    canonicalizer = canonicalizer_of(make_pipeline(StandardScaler(), LinearSVC()))
    # A search put a transformer that is not affine in the place of one that is.
    model = Pipeline(
        [("standardscaler", QuantileTransformer(n_quantiles=20)), ("linearsvc", LinearSVC())]
    ).fit(X, y)
    released = canonicalizer.decode(
        *canonicalizer.encode(model, X), make_pipeline(StandardScaler(), LinearSVC())
    )
    said, wanted = (canonicalizer.behaviour(each, X) for each in (released, model))
    assert not np.allclose(said, wanted, rtol=1e-3)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (make_pipeline(StandardScaler(), SVC()), "SVC"),
        (make_pipeline(SplineTransformer(), LinearSVC()), "SplineTransformer.*schema="),
        (make_pipeline(PCA(2, whiten=True), KMeans(2)), "whiten"),
        (make_pipeline("passthrough", None), "anything"),
        (make_pipeline(GridSearchCV(LinearSVC(), {}, refit=False)), "refit=True"),
    ],
)
def test_pipelines_that_cannot_be_released(estimator: Any, message: str) -> None:
    with pytest.raises(NoCanonicalizerError, match=message):
        registry().canonicalizer("auto", estimator)


def test_a_frame_goes_through_unfolded_steps() -> None:
    frame = pd.DataFrame(load_iris().data, columns=list("abcd"))
    estimator = make_pipeline(StandardScaler().set_output(transform="pandas"), KMeans(2, n_init=1))
    canonicalizer = canonicalizer_of(estimator)
    blank = make_pipeline(StandardScaler().set_output(transform="pandas"), KMeans(2, n_init=1))
    released = canonicalizer.decode(*canonicalizer.encode(estimator.fit(frame), frame), blank)
    assert np.array_equal(released.predict(frame), estimator.predict(frame))


def search(**grid: Any) -> GridSearchCV:
    return GridSearchCV(LinearSVC(C=3.125), grid, cv=3)


def test_what_was_found_best_is_not_released() -> None:
    X, y = load_iris(return_X_y=True)
    fitted = search(C=[0.0078125]).fit(X, y)
    canonicalizer = registry().canonicalizer("auto", fitted)
    assert isinstance(canonicalizer, SearchCanonicalizer)
    released = canonicalizer.decode(*canonicalizer.encode(fitted, X), search(C=[0.0078125]))
    assert type(released) is LinearSVC
    assert released.C == 3.125
    assert np.array_equal(released.predict(X), fitted.predict(X))
    assert b"best_" not in pickle.dumps(released)
    assert b"cv_results_" not in pickle.dumps(released)


def test_without_refit_there_is_no_model() -> None:
    with pytest.raises(NoCanonicalizerError, match="refit"):
        registry().canonicalizer("auto", GridSearchCV(LinearSVC(), {}, refit=False))


def test_a_search_over_what_the_released_model_does_with_its_numbers_is_refused() -> None:
    from sklearn.linear_model import TweedieRegressor

    X = load_iris().data
    estimator = GridSearchCV(TweedieRegressor(power=0), {"power": [1.5]}, cv=3)
    canonicalizer = registry().canonicalizer("auto", estimator)
    space = balanced_space(150, n_subsets=2)
    prepared = candidates_over(estimator, X[:, 1:], X[:, 0], space)
    with pytest.raises(GaugeError, match="GridSearchCV"):
        prepared.outputs(canonicalizer)


def test_a_search_over_the_number_of_parts_names_what_differs() -> None:
    from sklearn.cluster import KMeans

    class BySize(KMeans):
        """Scores best with the number of clusters its rows ask for."""

        def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
            return -abs(self.n_clusters - (2 if X[:, 0].mean() > self._middle else 3))

        _middle = load_iris().data[:, 0].mean()

    X = np.sort(load_iris().data, axis=0)
    space = listed_space([np.arange(75), np.arange(75, 150)], 150)
    estimator = GridSearchCV(BySize(n_init=1), {"n_clusters": [2, 3]}, cv=2)
    canonicalizer = registry().canonicalizer("auto", estimator)
    with pytest.raises(StructureMismatchError, match="centres"):
        candidates_over(estimator, X, None, space).outputs(canonicalizer)


@pytest.mark.parametrize(
    "model",
    [
        make_resampled(SMOTE(random_state=0), StandardScaler(), LogisticRegression()),
        make_resampled(StandardScaler(), RandomOverSampler(), LogisticRegression()),
        make_pipeline(StandardScaler(), make_resampled(SMOTE(), LogisticRegression())),
        make_resampled(SMOTE(), KBinsDiscretizer(4, strategy="uniform"), LogisticRegression()),
    ],
)
def test_resampling_belongs_to_the_fit(model: Any) -> None:
    X, y = make_classification(900, 4, n_redundant=0, weights=[0.9], random_state=0)
    private = PACPrivate(model, 1 / 2, secret=Subsets(16, seed=0)).fit(X, y)
    assert len(private.released_estimator_.predict(X)) == y.size
    # Balanced: without it at most half of the rare class is found (told without noise).
    exact = PACPrivate(model, Nats(3, allow_exact=True), secret=Subsets(16, seed=0)).fit(X, y)
    assert recall_score(y, exact.predict(X)) > 0.6
