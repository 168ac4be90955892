"""Bad estimators and parameters get a clear error, and a failing fit loses nothing."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial
from typing import Any, final

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.manifold import TSNE
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import get_tags

from pacsklearn import Nats, PACPrivate, Parameters, PrivacySession, SRPPPrivate, Subsets
from pacsklearn.canonical.linear import LinearRegressorCanonicalizer
from pacsklearn.exceptions import (
    BudgetError,
    DesignError,
    GaugeError,
    NoCanonicalizerError,
    NonDeterministicError,
    PacsklearnError,
    StructureMismatchError,
    SubsetFitError,
    UnknownNameError,
)
from pacsklearn.plugins import Canonicalizer, Encoding

GENERATOR = np.random.default_rng(11)
X = GENERATOR.normal(size=(60, 3)) + 7
Y = np.arange(60) % 2
SIZES = X @ [1.0, 2.0, 3.0]
BACKENDS = ["diagonal", "eigen", "isotropic", "logdet"]


class Throwing(LinearRegression):
    """Fails with the words of its rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Throwing:
        raise ValueError(f"row {X[0].tolist()} is bad")


class Restless(LinearRegression):
    """Never gives one result twice."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Restless:
        super().fit(X, y)
        self.coef_ = self.coef_ + np.random.default_rng().normal(size=3)
        return self


class Exploding(LinearRegression):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Exploding:
        super().fit(X, y)
        self.coef_ = self.coef_ * np.nan
        return self


class Duck:
    def fit(self, X: Any, y: Any) -> Duck:
        return self


@final
class LyingDecoder(Canonicalizer):
    """Gives back a model other than the one it was given."""

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return LinearRegressorCanonicalizer().encode(estimator, X)

    def decode(self, vector: Any, layout: Any, template: Any) -> Any:
        return LinearRegressorCanonicalizer().decode(vector * 1.01, layout, template)


@final
class LyingAligner(Canonicalizer):
    """Shrinks every model towards the others."""

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return LinearRegressorCanonicalizer().encode(estimator, X)

    def decode(self, vector: Any, layout: Any, template: Any) -> Any:
        return LinearRegressorCanonicalizer().decode(vector, layout, template)

    def align(self, vectors: Any, layout: Any) -> Any:
        return 0.5 * vectors + 0.5 * vectors.mean(axis=0)


def refused(error: type[Exception], words: list[str], model: Any, **params: Any) -> None:
    y = SIZES if isinstance(model, LinearRegression | Ridge) else Y
    with pytest.raises(error) as caught:
        PACPrivate(model, **{"secret": Subsets(8), **params}).fit(X, y)
    message = str(caught.value) + str(caught.value.__context__)
    assert [word for word in words if word not in message] == [], message
    assert not [value for value in X.ravel() if f"{value:.5f}"[:6] in message], message


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (LinearSVC, "the class; give an instance, LinearSVC()"),
        (None, "NoneType"),
        ("svc", "str"),
        (3, "int"),
        (X, "ndarray"),
        (object(), "object"),
        (Duck(), "Duck"),
    ],
    ids=["class", "None", "str", "int", "array", "object", "duck"],
)
def test_what_is_no_estimator(model: Any, given: str) -> None:
    refused(TypeError, ["estimator must be", "fit and get_params", given], model)
    with PrivacySession(X, Y, budget=0.1, secret=Subsets(8)) as session:
        for release in (session.release, session.prepare, partial(session.respond, X=X)):
            with pytest.raises(TypeError, match="estimator must be"):
                release(model)


@pytest.mark.parametrize(
    "model", [SVC(), RandomForestClassifier(n_estimators=2), make_pipeline(PCA(2), SVC())]
)
def test_what_has_no_canonicalizer(model: Any) -> None:
    name = "SVC" if hasattr(model, "steps") else type(model).__name__
    words = ["No canonicalizer supports", name, "canonicalizer=", "release=Answers()"]
    refused(NoCanonicalizerError, words, model, release=Parameters())


@pytest.mark.parametrize("model", [DBSCAN(), TSNE(2)])
def test_what_neither_parameters_nor_answers_can_be_released_of(model: Any) -> None:
    words = ["No canonicalizer supports", type(model).__name__, "canonicalizer="]
    refused(NoCanonicalizerError, words, model)


def test_kinds_of_releases() -> None:
    refused(ValueError, ["release must be", "'auto'", "got 'all'"], LinearSVC(), release="all")


@pytest.mark.parametrize("budget", [0, -1.0, math.nan, math.inf, -math.inf])
def test_budgets_that_are_not_positive_and_finite(budget: float) -> None:
    words = ["budget must be a positive, finite number of nats", f"got {budget!r}", "budget=1/16"]
    refused(BudgetError, words, LinearSVC(), budget=budget)


@pytest.mark.parametrize("budget", ["1/16", None, True, 1j, [1.0], np.ones(1)])
def test_budgets_that_are_no_number(budget: Any) -> None:
    words = ["budget must be a positive", type(budget).__name__, "budget=1/16"]
    refused(BudgetError, words, LinearSVC(), budget=budget)


@pytest.mark.parametrize("budget", [math.log(8), np.float32(3), 100])
def test_budgets_above_the_entropy_need_no_noise_and_say_so(budget: float) -> None:
    guarantee = (
        PACPrivate(LinearSVC(), secret=Subsets(8), budget=Nats(budget, allow_exact=True))
        .fit(X, Y)
        .guarantee_
    )
    assert guarantee.noiseless
    assert guarantee.spent == pytest.approx(math.log(8))
    assert guarantee.posterior_membership == guarantee.posterior_identification == 1.0
    assert guarantee.status.kind == "hides nothing"
    assert str(guarantee.status) in " ".join(str(guarantee).split())


@pytest.mark.parametrize(
    ("n_subsets", "error", "words"),
    [
        (7, DesignError, ["7 subsets", "rate=0.5", "must be even", "128"]),
        (1, ValueError, ["n must be an integer of at least 2", "got 1"]),
        (-2, ValueError, ["n must be an integer of at least 2", "got -2"]),
        (8.0, ValueError, ["n must be an integer", "got 8.0"]),
        ("8", ValueError, ["n must be an integer", "got '8'"]),
        (None, ValueError, ["n must be an integer", "got None"]),
    ],
)
def test_numbers_of_subsets(n_subsets: Any, error: type[Exception], words: list[str]) -> None:
    refused(error, words, LinearSVC(), secret=Subsets(n_subsets))


@pytest.mark.parametrize("rate", [0, 1, 2.0, math.nan, "half", None, True])
def test_rates_that_are_no_share(rate: Any) -> None:
    refused(
        ValueError,
        ["rate must be", "between 0 and 1", f"got {rate!r}"],
        Ridge(),
        secret=Subsets(rate=rate),
    )


def test_rates_that_do_not_fit() -> None:
    refused(
        DesignError,
        ["8 subsets and rate=0.3", "2.4", "whole"],
        Ridge(),
        secret=Subsets(8, rate=0.3),
    )
    unusual = PACPrivate(Ridge(), secret=Subsets(8, rate=0.25)).fit(X, SIZES).guarantee_
    assert unusual.prior_membership == 0.75


@pytest.mark.parametrize("seed", [-1, "0", 1.0])
def test_public_seeds(seed: Any) -> None:
    refused(ValueError, ["seed must be", f"got {seed!r}"], Ridge(), secret=Subsets(seed=seed))


def test_unknown_names_list_the_known_ones() -> None:
    refused(UnknownNameError, ["noise backend", "'gauss'", *BACKENDS], LinearSVC(), noise="gauss")
    refused(UnknownNameError, ["type int", *BACKENDS], LinearSVC(), noise=3)
    words = ["canonicalizer", "'svm'", "linear_classifier", "pca", "pipeline"]
    refused(UnknownNameError, words, LinearSVC(), release=Parameters(canonicalizer="svm"))
    refused(
        UnknownNameError,
        ["LyingDecoder", "instance"],
        Ridge(),
        release=Parameters(canonicalizer=LyingDecoder),
    )


@pytest.mark.parametrize("metric", ["euclid", [1.0, 2.0], [-1.0] * 4, np.ones((2, 3)), object()])
def test_metrics(metric: Any) -> None:
    refused(ValueError, ["metric"], LinearSVC(), release=Parameters(metric=metric))


def test_parameters_of_the_wrapped_estimator_are_named() -> None:
    words = ["LinearSVC", "InvalidParameterError", "'C' parameter", "Got -3"]
    refused(SubsetFitError, words, LinearSVC(C=-3))
    words = ["GridSearchCV(refit=False)", "refit=True"]
    search = GridSearchCV(LinearSVC(), {"C": [1]}, refit=False)
    refused(NoCanonicalizerError, words, search, release=Parameters())


def test_errors_inside_a_subset_keep_their_words() -> None:
    words = ["Throwing could not be fitted on subset 0", "ValueError", "withheld", "rows(0)"]
    refused(SubsetFitError, words, Throwing())
    refused(SubsetFitError, ["Exploding", "nan or infinite", "regularise"], Exploding())


def test_structure_that_differs_names_what_differs() -> None:
    words = ["PCA", "subset", "components", "(2, 3)", "cannot be noised", "fix it"]
    refused(StructureMismatchError, words, PCA(n_components=0.8))


def test_estimators_that_do_not_repeat_themselves() -> None:
    refused(NonDeterministicError, ["Restless", "differ", "random_state"], Restless())
    # With a random_state of None the public seed makes it repeat.
    assert (
        PACPrivate(SGDClassifier(), secret=Subsets(8)).fit(X, Y).released_estimator_.random_state
        == 0
    )


@pytest.mark.parametrize("canonicalizer", [LyingDecoder(), LyingAligner()])
def test_canonicalizers_that_change_the_model(canonicalizer: Any) -> None:
    words = ["Ridge", "behaves differently", "pacsklearn.testing.check_canonicalizer"]
    refused(GaugeError, words, Ridge(), release=Parameters(canonicalizer=canonicalizer))


FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
FAILING: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "budget": ({"budget": -1}, X, Y),
    "design": ({"secret": Subsets(7)}, X, Y),
    "names": ({"release": Parameters(canonicalizer="nope")}, FRAME, Y),
    "rows": ({}, np.full((60, 5), np.nan), Y),
    "columns": ({}, FRAME.assign(d=np.nan), Y),
    "one class": ({}, FRAME, np.zeros(60)),
    "no canonicalizer": ({"estimator": SVC(), "release": Parameters()}, FRAME, Y),
    "a subset": ({"estimator": Throwing()}, FRAME, SIZES),
    "structure": ({"estimator": PCA(0.8)}, FRAME, None),
    "metric": ({"release": Parameters(metric=[1.0])}, FRAME, Y),
}


@pytest.mark.product(only=5)
@pytest.mark.parametrize("case", FAILING)
def test_a_failing_fit_leaves_the_last_release_whole(case: str) -> None:
    params, bad_X, bad_y = FAILING[case]
    estimator = PACPrivate(LogisticRegression(), secret=Subsets(8)).fit(X, Y)
    told = estimator.predict_proba(X)
    fitted = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
    estimator.set_params(**params)
    with pytest.raises((PacsklearnError, ValueError)):
        estimator.fit(bad_X, bad_y)
    after = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
    assert after.keys() == fitted.keys()
    assert all(after[name] is fitted[name] for name in fitted)
    np.testing.assert_array_equal(estimator.predict_proba(X), told)
    assert estimator.guarantee_.secret.n_rows == 60


def test_a_failing_first_fit_leaves_nothing() -> None:
    estimator = PACPrivate(PCA(0.8), secret=Subsets(8))
    with pytest.raises(StructureMismatchError):
        estimator.fit(FRAME)
    assert [name for name in vars(estimator) if name.endswith("_")] == []


@pytest.mark.parametrize(
    "model",
    [
        FrozenEstimator(LogisticRegression()),
        make_pipeline(FrozenEstimator(PCA(1)), LinearSVC()),
        StackingClassifier([("one", LogisticRegression())], LinearSVC(), cv="prefit"),
    ],
    ids=["alone", "in a pipeline", "prefit"],
)
def test_what_was_fitted_outside_the_subsets(model: Any) -> None:
    words = ["fitted outside the candidate subsets", "FunctionTransformer(fitted.transform)"]
    refused(ValueError, words, model)


@pytest.mark.parametrize(
    "fit",
    [
        lambda model: PACPrivate(model).fit(X, Y),
        lambda model: SRPPPrivate(model, budget=1.0).fit(X, Y, secret=Y),
        lambda model: PrivacySession(X, Y, budget=Nats(1.0)).release(model),
    ],
    ids=["PACPrivate", "SRPPPrivate", "PrivacySession"],
)
@pytest.mark.parametrize(
    "inside", [lambda model: model, make_pipeline], ids=["alone", "in a pipeline"]
)
def test_an_invalid_inner_estimator_is_refused_as_scikit_learn_does(fit: Any, inside: Any) -> None:
    model = SelfTrainingClassifier()
    with suppress(AttributeError):
        get_tags(model)
        pytest.skip("this scikit-learn gives tags to a meta-estimator without its part")
    with pytest.raises(ValueError) as ours:  # noqa: PT011  # its words are compared below
        fit(inside(model))
    with pytest.raises(ValueError) as theirs:  # noqa: PT011  # as above
        model.fit(X, Y)
    assert str(ours.value) == str(theirs.value)
