"""Estimators as other libraries write them: without tags, without a type, with methods too many."""

from __future__ import annotations

import sys
import warnings
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.feature_selection import SelectFdr
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import Tags

from pacsklearn import (
    Answers,
    AutoPrivateClassifier,
    Nats,
    PACPrivate,
    Parameters,
    PrivacySession,
    SRPPPrivate,
    Subsets,
)
from pacsklearn.exceptions import NoCanonicalizerError, NonDeterministicError, SubsetFitError
from pacsklearn.priors import Range
from pacsklearn.secrets import release_sampled

GENERATOR = np.random.default_rng(3)
X = GENERATOR.normal(size=(60, 2))
SIZES = 5 * X[:, 0] + X[:, 1] + 20
LABELS = (X[:, 0] > 0).astype(int)
VALUES = Answers(200, prior=Range(0, 40))
FITS = count(1)


class Untagged:
    """As pygam and mlxtend write theirs: parameters, and nothing else of scikit-learn."""

    def __init__(self, shift: float = 0.0) -> None:
        self.shift = shift

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"shift": self.shift}

    def set_params(self, **params: Any) -> Untagged:
        vars(self).update(params)
        return self

    def fit(self, X: Any, y: Any) -> Untagged:
        self.classes_, self.cut_ = np.unique(y), X[:, 0].mean() + self.shift
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[(X[:, 0] > self.cut_).astype(int)]


class Tagged(ClassifierMixin, Untagged, BaseEstimator):
    """As the refusal says."""


class Untyped(BaseEstimator):
    """A regressor whose tags do not say so."""

    def fit(self, X: Any, y: Any) -> Untyped:
        self.line_ = LinearRegression().fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.line_.predict(X)


class Typed(Untyped):
    """As the refusal says."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor"
        return tags


class Sharing(DecisionTreeRegressor):
    """A regressor with shares of two classes, which are nearly always the same: FIGSRegressor."""

    def predict_proba(self, X: Any) -> Any:
        high = np.clip(self.predict(X), 0, 1)
        return np.stack([1 - high, high], axis=1)


class Restless(Sharing):
    def predict(self, X: Any) -> Any:
        return super().predict(X) + self.shift_

    def fit(self, X: Any, y: Any) -> Restless:
        self.shift_ = next(FITS)  # two draws of chance may be as good as equal
        return super().fit(X, y)


class Holding(LinearRegression):
    """Has a parameter with a fit, which is no estimator: as those of networks are."""

    def __init__(self, held: Any = None) -> None:
        super().__init__()
        self.held = held


def private(model: Any, **params: Any) -> PACPrivate:
    return PACPrivate(model, budget=Nats(1.0), secret=Subsets(8), **params)


@pytest.mark.parametrize("around", [lambda model: model, make_pipeline])
@pytest.mark.skipif(
    "solver" not in QuadraticDiscriminantAnalysis().get_params(),
    reason="scikit-learn below 1.8 gives tags to a class without any, and warns",
)
def test_a_class_without_tags_says_how_to_get_them(around: Any) -> None:
    with pytest.raises(TypeError, match=r"class Own\(ClassifierMixin, Untagged, BaseEstimator\)"):
        private(around(Untagged())).fit(X, LABELS)
    model = private(around(Tagged()), release=Answers(200)).fit(X, LABELS)
    assert set(model.predict(X)) == {0, 1}


def test_a_regressor_whose_tags_do_not_say_so() -> None:
    with pytest.raises(NoCanonicalizerError, match="in whose __sklearn_tags__ estimator_type"):
        private(Untyped()).fit(X, SIZES)
    with pytest.raises(ValueError, match="in whose __sklearn_tags__ estimator_type"):
        private(Untyped(), release=Answers(200)).fit(X, SIZES)
    with pytest.raises(ValueError, match="by the estimator_type of its tags"):
        private(Untyped(), release=VALUES).fit(X, SIZES)
    assert np.ptp(private(Typed(), release=VALUES).fit(X, SIZES).predict(X)) > 0
    with pytest.raises(NoCanonicalizerError, match=r"Or let it answer"):
        private(Typed(), release=Parameters()).fit(X, SIZES)


def test_shares_of_a_regressor_are_not_asked() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # candidates are not one model
        model = private(Sharing(max_depth=2), release=VALUES).fit(X, SIZES)
    assert model.preview(X).n_contested > 0
    with pytest.raises(NonDeterministicError, match="predict differently"):
        private(Restless(max_depth=2), release=VALUES).fit(X, SIZES)


@pytest.mark.parametrize(
    ("model", "y", "release"),
    [
        (GaussianProcessClassifier(kernel=2.0 * RBF(1.0), optimizer=None), LABELS, Answers(200)),
        (GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.1), optimizer=None), SIZES, VALUES),
    ],
)
def test_kernels_are_parameters_and_no_estimators(model: Any, y: Any, release: Any) -> None:
    holding = Holding(scipy.stats.norm)  # which has a fit
    assert private(holding).fit(X, SIZES).released_estimator_ is not None
    scaled = make_pipeline(StandardScaler(), model)
    fitted = private(scaled, release=release).fit(X, y)
    assert fitted.predict(X).shape == y.shape


class Hiding(Ridge):
    """Derives from a class that is released, and keeps less, as mord.OrdinalRidge."""

    def fit(self, X: Any, y: Any) -> Hiding:
        self.n_features_in_, self.line_ = X.shape[1], Ridge().fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.line_.predict(X)


def test_a_class_that_keeps_less_than_the_one_it_derives_from_answers() -> None:
    with pytest.raises(SubsetFitError, match=r"let it answer: release=Answers\(\)"):
        private(Hiding()).fit(X, SIZES)
    assert np.ptp(private(Hiding(), release=VALUES).fit(X, SIZES).predict(X)) > 0


class Shifted(Ridge):
    def predict(self, X: Any) -> Any:
        return super().predict(X) + 1000


class Turned(LogisticRegression):
    def decision_function(self, X: Any) -> Any:
        return -super().decision_function(X)


def test_a_derived_class_answers_by_its_own_methods() -> None:
    exact = Nats(9.0, allow_exact=True)
    wide = Answers(2, prior=Range(0, 2000))
    for inside in (lambda model: model, lambda model: make_pipeline(StandardScaler(), model)):
        shifted = PACPrivate(inside(Shifted()), budget=exact, secret=Subsets(8), release=wide)
        assert shifted.fit(X, SIZES).predict(X[:2]).min() > 900
        turned = PACPrivate(
            inside(Turned()), budget=exact, secret=Subsets(8), release=Answers(60)
        ).fit(X, LABELS)
        assert np.mean(turned.predict(X) == LABELS) < 0.3


def test_a_selector_that_keeps_no_column_is_named() -> None:
    noise = np.random.default_rng(0).integers(0, 2, len(X))
    model = make_pipeline(SelectFdr(alpha=1e-9), LogisticRegression())
    with pytest.raises(SubsetFitError, match="a step gets no column"):
        private(model).fit(X, noise)


def _slope(X: Any, y: Any = None) -> Any:
    return Ridge().fit(X[:, :1], X[:, 1]).coef_


@pytest.mark.parametrize(
    "fit",
    [
        lambda: private(LogisticRegression()).fit(X, LABELS),
        lambda: private(LogisticRegression()).plan(X, LABELS),
        lambda: AutoPrivateClassifier(budget=0.1).fit(X, LABELS),
        lambda: SRPPPrivate(LogisticRegression(), budget=1.0).fit(X, LABELS, secret=LABELS),
        lambda: PrivacySession(X, LABELS, budget=0.1).release(LogisticRegression()),
        lambda: PrivacySession(X, LABELS, budget=0.1).release_function(_slope),
        lambda: PrivacySession(X, LABELS, budget=0.1).release_planned([_slope]),
        lambda: PrivacySession.over([X[:30], X[30:]], budget=0.1).release_function(_slope),
        lambda: SRPPPrivate(_slope, budget=1.0).fit(X, LABELS, secret=LABELS),
        lambda: release_sampled(_slope, lambda: X, budget=0.1),
    ],
    ids=[
        *("fit", "plan", "auto", "SRPP", "session", "function", "planned", "over"),
        *("SRPP of a function", "sampled"),
    ],
)
def test_fits_that_mlflow_would_log_are_refused(fit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    logging = SimpleNamespace(autologging_is_disabled=lambda library: library != "sklearn")
    monkeypatch.setitem(sys.modules, "mlflow.utils.autologging_utils", logging)
    with pytest.raises(ValueError, match=r"mlflow\.sklearn\.autolog\(disable=True\)"):
        fit()


def test_mlflow_that_logs_no_fits_of_models_is_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    logging = SimpleNamespace(autologging_is_disabled=lambda library: library != "openai")
    monkeypatch.setitem(sys.modules, "mlflow.utils.autologging_utils", logging)
    assert private(LogisticRegression()).fit(X, LABELS).guarantee_


class CatBoostClassifier(LogisticRegression):
    """Stands for CatBoost's own, which is not installed."""

    def __init__(self, allow_writing_files: bool = True) -> None:
        super().__init__()
        self.allow_writing_files = allow_writing_files


CatBoostClassifier.__module__ = "catboost.core"


@pytest.mark.parametrize("before", [[], [StandardScaler()]])
def test_models_of_catboost_write_no_learning_curves(before: list[Any]) -> None:
    with pytest.raises(ValueError, match="allow_writing_files=False"):
        private(make_pipeline(*before, CatBoostClassifier())).fit(X, LABELS)
    silent = make_pipeline(*before, CatBoostClassifier(allow_writing_files=False))
    assert private(silent).fit(X, LABELS).guarantee_


class Column(ClassifierMixin, BaseEstimator):
    """As CatBoost with three classes: labels come as a table of one column."""

    def fit(self, X: Any, y: Any) -> Column:
        self.classes_, self.cut_ = np.unique(y), X[:, 0].mean()
        return self

    def predict(self, X: Any) -> Any:
        return (X[:, :1] > self.cut_).astype(int) * 2


def test_labels_in_a_column_are_labels() -> None:
    model = private(Column(), release=Answers())
    assert set(model.fit(X, np.arange(60) % 3).predict(X[:9])) == {0, 2}


class Renaming(ClassifierMixin, BaseEstimator):
    """As LightGBM writes it: its own names of columns have no blanks."""

    def fit(self, X: Any, y: Any) -> Renaming:
        self.feature_names_in_ = np.array([name.replace(" ", "_") for name in X.columns])
        self.classes_, self.cut_ = np.unique(y), X["mean size"].mean()
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[(X["mean size"] > self.cut_).astype(int)]


def test_columns_are_known_by_their_own_names_whatever_the_model_calls_them() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["mean size", "age"])
    private = PACPrivate(Renaming(), secret=Subsets(16)).fit(table, LABELS)
    assert private.score(table[:9], LABELS[:9]) > 0.5
    with pytest.raises(ValueError, match="feature names should match"):
        private.predict(table.rename(columns={"mean size": "mean_size"}))
