"""What a private fit says about its own time, to the curator only."""

from __future__ import annotations

import pickle
import warnings

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pacsklearn import Answers, PACPrivate, Subsets, config_context

STAGES = {"design", "fits", "canonical form", "calibration", "certificate", "other"}


def test_where_the_time_went(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = PACPrivate(make_pipeline(StandardScaler(), LogisticRegression()), secret=Subsets(8))
    report = model.fit(X, y).fit_report_
    assert set(report.wall) == STAGES
    assert report.wall["fits"] > 0
    assert (report.together, report.one_by_one, report.reason) == (8, 0, "")
    assert capsys.readouterr().err == ""
    told = str(model.guarantee_)
    assert "canonical form" not in told
    assert not hasattr(pickle.loads(pickle.dumps(model)), "fit_report_")
    assert not hasattr(model.released_estimator_, "fit_report_")


def test_verbose_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = LogisticRegression(max_iter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        PACPrivate(model, secret=Subsets(4), verbose=2).fit(X, y)
    shown = capsys.readouterr().err
    assert "calibration" in shown
    assert "4 candidates fitted together" in shown


@pytest.mark.parametrize(
    ("model", "options", "reason"),
    [
        (LogisticRegression(solver="liblinear"), {}, "no subset fitter knows LogisticRegression"),
        (DecisionTreeClassifier(max_depth=2), {"release": Answers()}, "DecisionTreeClassifier"),
    ],
)
def test_why_candidates_were_fitted_one_by_one(model: object, options: dict, reason: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    private = PACPrivate(model, secret=Subsets(4), **options).fit(X, y)
    assert private.fit_report_.one_by_one == 4
    assert reason in private.fit_report_.reason


@pytest.mark.soak
def test_one_by_one_as_configured() -> None:
    with config_context(fast_fit=False):
        private = PACPrivate(LogisticRegression(max_iter=5000), secret=Subsets(4))
        private.fit(*load_breast_cancer(return_X_y=True))
    assert private.fit_report_.one_by_one == 4
    assert "fast_fit=False" in private.fit_report_.reason
