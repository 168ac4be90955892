"""Candidates that agree on everything: honestly, or because something bypasses their rows."""

from __future__ import annotations

import multiprocessing
import warnings
from pathlib import Path
from typing import Any, ClassVar

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, is_regressor
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from pacsklearn import (
    Answers,
    AutoPrivateRegressor,
    PACPrivate,
    Parameters,
    PrivacySession,
    SRPPPrivate,
    Subsets,
)
from pacsklearn.estimators import StabilizedRegressor
from pacsklearn.exceptions import PrivacyLeakWarning, SubsetFitError
from pacsklearn.kernel.outputs.outputs import equal_but_for_rounding
from pacsklearn.kernel.outputs.subset_fitting import seeded_clone
from pacsklearn.priors import Range
from pacsklearn.srpp import SRPPSGDClassifier, SRPPSGDRegressor

X, Y = load_iris(return_X_y=True)


class Cached(Ridge):
    """Fits once in a process; every later fit gives what the first one learned."""

    learned: ClassVar[dict[str, Any]] = {}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Cached:
        if not self.learned:
            self.learned.update(vars(Ridge().fit(X, y)))
        vars(self).update(self.learned)
        return self


class CachedNeighbours(KNeighborsClassifier):
    learned: ClassVar[dict[str, Any]] = {}

    def fit(self, X: Any, y: Any) -> CachedNeighbours:
        if not self.learned:
            self.learned.update(vars(KNeighborsClassifier(1).fit(X, y)))
        vars(self).update(self.learned)
        return self


def test_a_cache_on_the_class_is_warned_about() -> None:
    """It passed every check: all candidates agree, so the first fit left without noise."""
    with pytest.warns(PrivacyLeakWarning, match="cache"):
        PACPrivate(Cached(), secret=Subsets(8)).fit(X, Y.astype(float))
    with pytest.warns(PrivacyLeakWarning, match="same"):
        PACPrivate(CachedNeighbours(), release=Answers(10), secret=Subsets(8)).fit(X, Y)


def test_candidates_that_agree_honestly_are_not() -> None:
    ends = np.tile([[0.0, 1.0], [1.0, 0.0]], (60, 1))
    released = PACPrivate(MinMaxScaler(), secret=Subsets(8, stratify=False)).fit(ends)
    assert released.guarantee_.spent == 0
    easy = np.repeat([[0.0], [9.0]], 40, axis=0)
    PACPrivate(KNeighborsClassifier(1), release=Answers(5), secret=Subsets(8)).fit(
        easy, easy[:, 0] > 0
    )
    PACPrivate(DummyClassifier(), release=Answers(5), secret=Subsets(8)).fit(X, Y)


@pytest.mark.parametrize(
    "estimator",
    [
        PACPrivate(Ridge()),
        make_pipeline(StandardScaler(), PACPrivate(Ridge())),
        GridSearchCV(PACPrivate(Ridge()), {"budget": [0.1]}),
        SRPPPrivate(Ridge()),
        SRPPSGDRegressor(),
        make_pipeline(StandardScaler(), SRPPSGDRegressor()),
        SRPPSGDClassifier(classes=[0, 1]),
        StabilizedRegressor(SRPPSGDRegressor()),
        AutoPrivateRegressor(),
    ],
)
def test_private_estimators_inside_are_refused(estimator: Any) -> None:
    """Each candidate's fit would draw a secret and spend a budget of its own."""
    prior = Range(0, 2) if is_regressor(estimator) else None
    model = PACPrivate(estimator, release=Answers(prior=prior), secret=Subsets(8))
    with pytest.raises(ValueError, match="private"):
        model.fit(X, Y * 1.0)
    with pytest.raises(ValueError, match="private"):
        PrivacySession(X, Y * 1.0, budget=0.5, secret=Subsets(8)).responder(
            estimator, max_answers=4, prior=Range(0, 2)
        )


def test_no_fitted_candidate_is_left_in_a_cache(tmp_path: Path) -> None:
    for memory in (str(tmp_path), joblib.Memory(tmp_path, verbose=0)):
        there = set(tmp_path.rglob("*"))
        model = make_pipeline(StandardScaler(), LogisticRegression(), memory=memory)
        for release in (Parameters(), Answers(4)):
            fitted = PACPrivate(model, release=release, secret=Subsets(8)).fit(X, Y)
            fitted.predict(X[:2])
        assert model.memory is memory
        assert set(tmp_path.rglob("*")) == there
    assert seeded_clone(make_pipeline(StandardScaler(), Ridge())).memory is None


def test_a_clone_prints_nothing_and_is_otherwise_as_stated() -> None:
    stated = make_pipeline(StandardScaler(), LogisticRegression(verbose=2, warm_start=True))
    fresh = seeded_clone(stated)[-1]
    assert (fresh.verbose, fresh.warm_start, fresh.random_state) == (0, True, 0)


def test_vectors_of_other_shapes_are_not_the_same() -> None:
    assert equal_but_for_rounding(np.ones(3), np.ones(3) + 1e-12)
    assert not equal_but_for_rounding(np.ones(1), np.ones(3))


def test_no_fitted_candidate_is_written_by_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """joblib writes what is larger than 1 MB into files, for its workers to map."""
    written: list[str] = []
    dump = joblib.dump

    def recorded(value: Any, filename: Any, *args: Any, **kwargs: Any) -> Any:
        written.append(type(value).__name__)
        return dump(value, filename, *args, **kwargs)

    monkeypatch.setattr("joblib._memmapping_reducer.dump", recorded)
    generator = np.random.default_rng(0)
    wide = generator.normal(size=(1200, 300))
    labels = wide[:, 0] > 0
    session = PrivacySession(wide, labels, budget=0.5, secret=Subsets(4), n_jobs=2)
    with joblib.parallel_config("loky", temp_folder=str(tmp_path)):
        responder = session.responder(KNeighborsClassifier(1), max_answers=4)
        before = len(written)  # the rows, which workers index themselves
        workers = set(multiprocessing.active_children())
        responder.predict(wide[:3])
    assert len(written) == before, "a stored neighbour is a row of one candidate"
    assert workers
    assert workers <= set(multiprocessing.active_children()), "workers began anew for the answers"


class Quoting(ClassifierMixin, BaseEstimator):
    """Talks about the rows it holds when it is asked."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails

    def fit(self, X: Any, y: Any) -> Quoting:
        self.classes_, self.row_ = np.unique(y), X[0]
        return self

    def predict(self, X: Any) -> Any:
        warnings.warn(f"nearest to {self.row_}", UserWarning, stacklevel=1)
        if self.fails:
            raise ValueError(f"too near to {self.row_}")
        return np.full(len(X), self.classes_[int(self.row_[0] > 5.5)])


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_what_candidates_say_when_asked_is_withheld(n_jobs: int | None) -> None:
    session = PrivacySession(X, Y, budget=0.5, secret=Subsets(8), n_jobs=n_jobs)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session.respond(Quoting(), X[:3], max_answers=9)
    assert [str(w.message).split(" (")[0] for w in caught] == [
        "Quoting: UserWarning while candidates answered"
    ]
    failing = session.responder(_FailsLater(), max_answers=9)
    spent = session.ledger.spent
    with pytest.raises(SubsetFitError, match="ValueError") as error:
        failing.predict(X[:3])
    assert "[" not in str(error.value)
    assert error.value.__cause__ is None
    assert session.ledger.spent == spent


@pytest.mark.parametrize("which", [0, 4])
def test_models_that_cannot_answer_rows_they_are_checked_on_were_fitted(which: int) -> None:
    """It was said that they could not be fitted, and always of subset 0."""
    session = PrivacySession(X, Y, budget=0.5, secret=Subsets(8))
    failing = _FailsAt(X[session.space.rows(which)].sum())
    with pytest.raises(SubsetFitError, match=f"fitted but could not answer on subset {which}"):
        session.responder(failing, max_answers=9)
    assert session.ledger.spent == 0


class _FailsAt(ClassifierMixin, BaseEstimator):
    """Fails on any query where it was fitted on rows of one sum; a constant elsewhere."""

    def __init__(self, total: float) -> None:
        self.total = total

    def fit(self, X: Any, y: Any) -> _FailsAt:
        self.classes_, self.fails_ = np.unique(y), X.sum() == self.total
        return self

    def predict(self, X: Any) -> Any:
        if self.fails_:
            raise ValueError(f"too near to {X[0]}")
        return np.full(len(X), self.classes_[0])


class _FailsLater(Quoting):
    """Answers while it is fitted and checked, and fails on queries."""

    def predict(self, X: Any) -> Any:
        if len(X) == 3:
            raise ValueError(f"too near to {self.row_}")
        return np.full(len(X), self.classes_[int(self.row_[0] > 5.5)])


def test_the_number_of_features_is_told() -> None:
    responder = PrivacySession(X, Y, budget=0.5, secret=Subsets(8)).responder(
        RandomForestClassifier(2), max_answers=4
    )
    with pytest.raises(ValueError, match="RandomForestClassifier"):
        responder.predict(X[:2, :3])
