"""A private part beside one that saw all rows warns; one beside public parts does not."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401 - importing it enables it
from sklearn.feature_selection import SelectKBest
from sklearn.impute import IterativeImputer
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import get_tags

from pacsklearn import (
    AutoPrivateClassifier,
    AutoPrivateRegressor,
    Nats,
    PACPrivate,
    Parameters,
    PrivateGridSearchCV,
    SRPPPrivate,
    Student,
    Subsets,
)
from pacsklearn.exceptions import PrivacyLeakWarning
from pacsklearn.srpp import SRPPSGDClassifier, SRPPSGDRegressor

X, Y = load_iris(return_X_y=True)


def private(estimator: Any) -> PACPrivate:
    return PACPrivate(
        estimator, budget=Nats(1), release=Parameters(certify=False), secret=Subsets(8)
    )


def told(estimator: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, Y)
    return [str(w.message) for w in caught if issubclass(w.category, PrivacyLeakWarning)]


@pytest.mark.product(only=2)
@pytest.mark.parametrize("before", [StandardScaler(), SelectKBest(k=2)])
@pytest.mark.parametrize("wrap", ["PACPrivate", "SRPPPrivate"])
def test_a_step_that_saw_all_rows_is_named(before: Any, wrap: str) -> None:
    model = RidgeClassifier()
    last = private(model) if wrap == "PACPrivate" else SRPPPrivate(model)
    (message,) = told(make_pipeline("passthrough", before, last))
    assert wrap in message
    assert any("Preparation outside" in text for text in last.guarantee_.not_covered)
    assert f"covered by no guarantee: {type(before).__name__.lower()}." in message


@pytest.mark.parametrize(
    ("last", "inside"),
    [
        (
            AutoPrivateClassifier(families=[RidgeClassifier()], budget=Nats(1), secret=Subsets(8)),
            "AutoPrivateClassifier(families=[make_pipeline(...)])",
        ),
        (
            PrivateGridSearchCV(private(RidgeClassifier()), {"budget": [1.0]}, cv=2, budget=9),
            "PrivateGridSearchCV(PACPrivate(make_pipeline(...)), ...)",
        ),
    ],
    ids=["auto", "search"],
)
def test_estimators_that_fit_private_ones_inside_warn_once(last: Any, inside: str) -> None:
    (message,) = told(make_pipeline(StandardScaler(), last))
    assert "covered by no guarantee: standardscaler." in message
    assert f"put the whole inside: {inside}." in message
    assert told(last) == []


@pytest.mark.parametrize(
    ("around", "learned"),
    [
        (make_pipeline(private(StandardScaler()), RidgeClassifier()), "ridgeclassifier"),
        (VotingClassifier([("a", private(RidgeClassifier())), ("b", RidgeClassifier())]), "b"),
        (
            make_pipeline(StandardScaler(), VotingClassifier([("a", private(RidgeClassifier()))])),
            "standardscaler",
        ),
        (StackingClassifier([("a", private(RidgeClassifier()))], cv=2), "final_estimator"),
        (CalibratedClassifierCV(private(RidgeClassifier()), cv=2), "calibration"),
        (
            make_pipeline(CalibratedClassifierCV(private(RidgeClassifier()), cv=2)),
            "calibratedclassifiercv__calibration",
        ),
        (
            TransformedTargetRegressor(private(Ridge()), transformer=make_pipeline(MinMaxScaler())),
            "transformer",
        ),
        (FeatureUnion([("a", private(PCA(1))), ("b", StandardScaler())]), "b"),
        (SelfTrainingClassifier(private(LogisticRegression())), "what it keeps of rows"),
        (IterativeImputer(private(Ridge()), max_iter=1), "what it keeps of rows"),
        (
            ColumnTransformer([("a", private(StandardScaler()), [0]), ("b", PCA(1), [0, 1])]),
            "b",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.RepeatedReleaseWarning")
@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.UtilityWarning")
@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.FewCandidatesWarning")
def test_what_learns_around_a_private_part_is_named(around: Any, learned: str) -> None:
    messages = told(around)
    name = type(around).__name__
    assert messages
    for message in messages:
        assert f"covered by no guarantee: {learned}." in message
        whole = "make_pipeline" if name == "Pipeline" else name
        assert f"put the whole inside: PACPrivate({whole}(...))." in message


@pytest.mark.parametrize(
    "estimator",
    [
        OneVsRestClassifier(private(RidgeClassifier())),
        TransformedTargetRegressor(private(Ridge()), func=np.cbrt, inverse_func=np.square),
        VotingClassifier([("a", private(RidgeClassifier())), ("b", private(LinearSVC()))]),
        make_pipeline(Normalizer(), private(RidgeClassifier())),
        make_pipeline(private(StandardScaler()), private(RidgeClassifier())),
        private(make_pipeline(StandardScaler(), RidgeClassifier())),
        private(RidgeClassifier()),
    ],
    ids=["parts", "function", "voters", "stateless", "private", "inside", "alone"],
)
def test_public_and_private_steps_are_not(estimator: Any) -> None:
    assert told(estimator) == []


class Around(BaseEstimator):
    """What keeps its parameter under another name has none to ask for."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def fit(self, X: Any, y: Any) -> Any:
        self._model.fit(X, y)
        return self


def test_an_estimator_that_cannot_say_what_it_holds_may_fit_one() -> None:
    assert told(Around(private(RidgeClassifier()))) == []


@pytest.mark.parametrize(
    "model",
    [
        PACPrivate(Ridge()),
        PACPrivate(SVC(), release=Student()),
        PrivateGridSearchCV(LogisticRegression(), {"C": [1.0]}),
        PACPrivate(LogisticRegression()),
        PACPrivate(RandomForestClassifier()),
        SRPPPrivate(Ridge()),
        SRPPPrivate(LogisticRegression()),
        SRPPSGDClassifier(),
        SRPPSGDRegressor(),
        AutoPrivateClassifier(),
        AutoPrivateRegressor(),
    ],
    ids=repr,
)
def test_no_check_expects_a_score_of_what_a_budget_spoils(model: Any) -> None:
    tags = get_tags(model)
    (kind,) = (each for each in (tags.classifier_tags, tags.regressor_tags) if each is not None)
    assert kind.poor_score


@pytest.mark.parametrize(
    "make",
    [
        lambda **given: PACPrivate(Ridge(), **given),
        lambda **given: SRPPPrivate(Ridge(), **given),
        lambda **given: PrivateGridSearchCV(PACPrivate(Ridge()), {}, **given),
        AutoPrivateClassifier,
        AutoPrivateRegressor,
        SRPPSGDClassifier,
        SRPPSGDRegressor,
    ],
)
def test_the_password_of_a_ledger_is_not_shown(make: Any) -> None:
    address = "postgresql://owner:se-cret@host/db"
    given, changed = make(ledger=address), make().set_params(ledger=address)
    for model in (given, changed, clone(given), pickle.loads(pickle.dumps(given))):
        assert model.ledger == str(model.ledger) == address
        for text in (repr(model), model._repr_html_(), repr(make_pipeline(model))):
            assert "se-cret" not in text
        assert "owner" in repr(model)
    plain = "sqlite:///clinic.db"
    assert make(ledger=plain).ledger is plain
