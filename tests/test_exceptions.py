"""A warning names the line of whoever called, however deep inside the package it is given."""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB

from pacsklearn import PACPrivate, PrivacySession, Subsets
from pacsklearn.exceptions import FewCandidatesWarning
from pacsklearn.secrets import PoissonSubsets, release_sampled

X, Y = load_iris(return_X_y=True)
SEEDED: dict[str, Any] = {"secret": Subsets(8), "random_state": 0}


def session() -> None:
    with PrivacySession(X, Y, budget=0.5, **SEEDED) as opened:
        opened.release(GaussianNB(), budget=0.1)
        opened.release_function(lambda rows, y: np.r_[rows.mean(0), rows.std(0)], budget=0.1)
        opened.release_planned([GaussianNB()], budgets=[0.1])


def sampled() -> None:
    few = {"n_calibration": 20, "n_certificate": 50, "random_state": 0}
    release_sampled(lambda rows: X[rows].mean(), PoissonSubsets(150), budget=0.5, **few)


def fit() -> None:
    PACPrivate(GaussianNB(), **SEEDED).fit(X, Y)


@pytest.mark.parametrize(
    ("call", "lines"),
    [(session, [1, 2, 3, 4]), (sampled, [2]), (fit, [1, 1, 1])],
)
def test_it_is_the_caller_s(call: Callable[[], None], lines: list[int]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    first = inspect.getsourcelines(call)[1]
    assert [each.filename for each in caught] == [__file__] * len(lines)
    assert [each.lineno - first for each in caught] == lines


def test_it_is_the_caller_s_of_a_search_that_called_this_package() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cross_val_score(PACPrivate(GaussianNB(), **SEEDED), X, Y, cv=2)
    assert caught
    assert {each.filename for each in caught} == {__file__}


def test_a_search_shows_a_warning_once_and_another_line_shows_it_again() -> None:
    models = {"budget": [1 / 64, 1 / 16, 1 / 4]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        GridSearchCV(PACPrivate(GaussianNB(), **SEEDED), models, cv=3).fit(X, Y)
        first = Counter(each.category for each in caught)
        PACPrivate(GaussianNB(), **SEEDED).fit(X, Y)
    assert set(first.values()) == {1}
    assert Counter(each.category for each in caught)[FewCandidatesWarning] == 2
