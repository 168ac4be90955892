"""A release kind is a value: it owns its arguments, and scikit-learn clones and sets them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import (
    Answers,
    AutoPrivateClassifier,
    Membership,
    PACPrivate,
    Parameters,
    Student,
    Subsets,
)
from pacsklearn.exceptions import AnswersWarning, NoCanonicalizerError
from pacsklearn.plugins import registry
from pacsklearn.priors import Expected, Range

KINDS = [Parameters, Answers, Student]
IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_cloned_and_shown_as_an_estimator_is(kind: Any) -> None:
    one = kind(prior=Expected(3, Range(0, 9)))
    copied = clone(one)
    assert copied is not one
    assert repr(copied) == repr(one)
    assert copied.prior == one.prior
    assert copied.prior is not one.prior
    assert set(kind().get_params()) == {each.name for each in fields(kind)}


def test_nested_names_reach_into_what_was_given() -> None:
    model = PACPrivate(LogisticRegression(), release=Parameters(), secret=Subsets())
    model.set_params(release__certify=False, secret__n=16, estimator__C=0.1)
    assert (model.release.certify, model.secret.n) == (False, 16)
    assert model.get_params()["release__certify"] is False
    at_once = PACPrivate(LogisticRegression()).set_params(release=Answers(5), release__of="labels")
    assert (at_once.release.n, at_once.release.of) == (5, "labels")


@pytest.mark.parametrize("name", ["release__certify", "secret__n", "budget__nats"])
def test_nested_names_say_where_there_is_nothing_to_reach_into(name: str) -> None:
    head = name.partition("__")[0]
    with pytest.raises(ValueError, match=f"^{name} reaches into {head}.* give the object first"):
        PACPrivate(LogisticRegression()).set_params(**{name: 1})
    if head != "release":
        with pytest.raises(ValueError, match=f"^{name} reaches into {head}.* give the object"):
            AutoPrivateClassifier().set_params(**{name: 1})


@pytest.mark.soak
def test_a_search_goes_over_budgets_of_several_units_and_over_nested_names() -> None:
    grid = {
        "budget": [1 / 64, 1 / 16, Membership(0.55)],
        "release__certify": [False, True],
    }
    model = PACPrivate(LogisticRegression(), release=Parameters(), secret=Subsets(8))
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(*IRIS)
    assert len(search.cv_results_["params"]) == 6
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.release.certify is search.best_params_["release__certify"]


def test_a_fit_changes_nothing_in_it() -> None:
    release = Answers(20)
    before = repr(release)
    model = PACPrivate(KNeighborsClassifier(), release=release, secret=Subsets(8)).fit(*IRIS)
    model.predict(IRIS[0][:3])
    assert repr(release) == before
    assert model.release_ is release


@pytest.mark.parametrize(
    ("release", "match"),
    [
        ("parameters", "release must be 'auto'"),
        (Parameters, "release must be 'auto'"),
        (Parameters(certify=None), "certify"),
        (Parameters(prior=(0, 9)), "prior"),
        (Answers(store="disk"), "store"),
        (Answers(of="everything"), "of must be"),
    ],
    ids=str,
)
def test_what_it_cannot_mean_is_refused(release: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        PACPrivate(LogisticRegression(), release=release, secret=Subsets(8)).fit(*IRIS)


def test_there_is_advice_about_each() -> None:
    assert {kind.name for kind in KINDS} == set(registry().names("advice"))


@pytest.mark.parametrize("inside", [False, True])
def test_a_stack_that_cannot_be_released_answers(*, inside: bool) -> None:
    stack: Any = StackingClassifier([("near", KNeighborsClassifier())], cv=2)
    if inside:
        stack = make_pipeline(StandardScaler(), stack)
    model = PACPrivate(stack, budget=1 / 4, secret=Subsets(4))
    with pytest.warns(AnswersWarning, match="rows it was fitted"):
        model.fit(*IRIS)
    assert model.predict(IRIS[0][:3]).shape == (3,)


def test_a_search_that_keeps_no_model_has_nothing_to_answer() -> None:
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [3]}, refit=False)
    with pytest.raises(NoCanonicalizerError, match="refit=True"):
        PACPrivate(search, secret=Subsets(4)).fit(*IRIS)
