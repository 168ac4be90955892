"""Arguments that no machine could follow: a clear error before anything is fitted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVC

from pacsklearn import Answers, KOfN, Nats, PACPrivate, Parameters, PrivacySession, Subsets
from pacsklearn.exceptions import PacsklearnError
from pacsklearn.priors import Expected, Range
from pacsklearn.srpp import SRPPPrivate, SRPPSGDClassifier
from pacsklearn.tabular import AdditiveRegressor, Column

X, y = load_iris(return_X_y=True)
HUGE = 10**400


@pytest.mark.parametrize(
    ("estimator", "options", "words"),
    [
        (SVC(), {"release": Answers(stabilize=HUGE)}, "stabilize"),
        (Ridge(), {"secret": Subsets(8, rate=HUGE)}, "rate"),
        (Ridge(), {"secret": Subsets(HUGE)}, "n must be"),
        (Ridge(), {"budget": HUGE}, "budget"),
        (SVC(), {"release": Answers(HUGE)}, "max_answers"),
        (SVC(), {"release": Answers(query_budget=HUGE)}, "query_budget"),
        (KNeighborsRegressor(), {"release": Answers(prior=Range(0, HUGE))}, "Range"),
    ],
)
def test_numbers_of_four_hundred_digits(estimator, options, words):
    with pytest.raises(ValueError, match=words) as caught:
        PACPrivate(estimator, **{"secret": Subsets(8), **options}).fit(X, y)
    assert len(str(caught.value)) < 1500


@pytest.mark.parametrize(
    ("estimator", "options", "words"),
    [
        (Ridge(), {"n_jobs": "two"}, "n_jobs"),
        (Ridge(), {"n_jobs": 0}, "n_jobs"),
        (Ridge(), {"verbose": None}, "verbose"),
        (Ridge(), {"budget": Nats(10, allow_exact="no")}, "allow_exact"),
        (Ridge(), {"budget": KOfN("half", 0.9)}, "k must be"),
        (Ridge(), {"release": Parameters(prior=Expected(None))}, "mean"),
        (Ridge(), {"release": Parameters(prior=Expected(1, (0, 2)))}, "within"),
        (SVC(), {"release": Answers(of=["labels"])}, "of must be"),
    ],
)
def test_values_of_another_type(estimator, options, words):
    with pytest.raises(ValueError, match=words):
        PACPrivate(estimator, **{"secret": Subsets(8), **options}).fit(X, y)


def test_columns_of_one_name():
    table = pd.DataFrame(X, columns=list("aabc"))
    with pytest.raises(ValueError, match="several"):
        PACPrivate(Ridge(), secret=Subsets(8)).fit(table, y)


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=2),
    st.sampled_from([HUGE, -HUGE, object(), b"x", complex(1, 1)]),
)
PLACES = {
    "": ("budget", "noise", "release", "secret", "ledger"),
    "release": ("metric", "canonicalizer", "certify", "prior"),
    "answers": ("n", "query_budget", "of", "store", "stabilize", "prior"),
    "secret": ("n", "rate", "stratify"),
}
NAMES = [(place, name) for place, names in PLACES.items() for name in names]


@settings(max_examples=60, derandomize=True)
@given(name=st.sampled_from(NAMES), value=ODD)
def test_odd_arguments_are_refused_in_words_or_taken(name, value):
    place, argument = name
    release = Answers(prior=Range(0, 9)) if place == "answers" else Parameters()
    model = PACPrivate(Ridge(), release=release, secret=Subsets(8, seed=0))
    owner = {"": model, "secret": model.secret}.get(place, release)
    owner.set_params(**{argument: value})
    told = ""
    try:
        model.fit(X[::4], y[::4])
    except (PacsklearnError, ValueError, TypeError) as error:  # anything else is a defect
        told = str(error)
    assert len(told) < 3000


def test_a_session_of_nothing():
    with pytest.raises(PacsklearnError, match="inputs"):
        PrivacySession.over([], budget=Nats(1.0))


@pytest.mark.parametrize(
    "call",
    [
        lambda column: PACPrivate(Ridge(), column).fit(*load_iris(return_X_y=True)),
        lambda column: PACPrivate(Ridge(), secret=Subsets(column)).fit(*load_iris(return_X_y=True)),
        lambda column: PrivacySession(*load_iris(return_X_y=True), budget=1.0).release(
            Ridge(), budget=column
        ),
        lambda column: Column("age", low=column, high=90),
        lambda column: Column("born", "date", low=column, high="2020-01-01"),
        lambda column: SRPPSGDClassifier(classes=column).fit(*load_iris(return_X_y=True)),
        lambda column: AdditiveRegressor(value_range=column).fit(*load_iris(return_X_y=True)),
        *(
            lambda column, name=name: SRPPPrivate(Ridge(), **{name: column}).fit(
                *load_iris(return_X_y=True)
            )
            for name in ("budget", "noise", "slices", "random_state")
        ),
        *(
            lambda column, name=name: PACPrivate(Ridge(), 1 / 16, **{name: column}).fit(
                *load_iris(return_X_y=True)
            )
            for name in ("n_jobs", "verbose", "random_state", "ledger")
        ),
    ],
)
def test_a_column_in_the_place_of_an_argument_is_not_quoted(call):
    for column in (pd.Series(["geheim", None, "b"]), pd.Series(["geheim", 1, 2]).to_numpy()):
        with pytest.raises((PacsklearnError, ValueError, TypeError)) as caught:
            call(column)
        assert "geheim" not in str(caught.value)


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.UtilityWarning")
def test_a_program_that_stops_at_an_underflow_fits_all_the_same():
    with np.errstate(all="raise"):
        PACPrivate(GaussianNB(), 1 / 64, secret=Subsets(8, seed=0)).fit(X, y)
        SRPPSGDClassifier(budget=1.0, classes=(0, 1, 2)).fit(X, y)
