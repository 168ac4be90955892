"""Which requests share candidates, a responder and its stored answers; and what a step may cost."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from pacsklearn import Nats, PrivacySession, Subsets
from pacsklearn.estimators.caller_handle import CallerHandle
from pacsklearn.estimators.cost_preview import preview
from pacsklearn.estimators.responders import Responders
from pacsklearn.exceptions import BudgetExhaustedError, ForeignProcessError
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from tests.inside import (
    account_of,
    answers_of,
    keep_responders,
    name_in_ledger_of,
    noise_of,
    procedure_of,
    requests_of,
    responders_of,
)

X, Y = load_iris(return_X_y=True)


ONE = Nats(1.0)


def session(budget: Any = ONE) -> PrivacySession:
    return PrivacySession(X, Y, budget=budget, secret=Subsets(4))


def test_columns_are_held_against_the_names_of_the_session() -> None:
    """Candidates took columns in another order by their places, and were charged for it."""
    rows = pd.DataFrame(X, columns=list("abcd"))
    asked = PrivacySession(rows, Y, budget=ONE, secret=Subsets(4))
    responder = asked.responder(GaussianNB(), query_budget=1 / 8)
    for strange in (rows[list("dcba")], rows.rename(columns={"a": "z"}), rows[list("abc")]):
        for ask in (
            responder.predict,
            partial(preview, responder),
            CallerHandle(responder, 0.1).predict,
        ):
            with pytest.raises(ValueError, match="feature names should match"):
                ask(strange[::50])
    assert asked.ledger.spent == 0
    assert responder.predict(rows[::50]).shape == (3,)


class Counted(GaussianNB):
    """Counts how many candidates are fitted."""

    fits = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        Counted.fits += 1
        return super().fit(X, y, sample_weight)


def test_equal_requests_share_a_responder_and_equal_estimators_their_candidates() -> None:
    asked = session()
    first = asked.responder(Counted(), query_budget=1 / 8)
    assert asked.responder(Counted(), query_budget=1 / 8) is first
    others = [
        asked.responder(Counted(), query_budget=1 / 16),
        asked.responder(Counted(), max_answers=8),
        asked.responder(Counted(), query_budget=1 / 8, answers="probabilities"),
    ]
    assert len({id(each) for each in (first, *others)}) == 4
    first.predict(X[:1])
    fitted = Counted.fits
    for each in others:
        each.predict(X[:1])
    assert Counted.fits == fitted
    weights = {"sample_weight": np.arange(150.0)}
    for estimator, params in (
        (Counted(var_smoothing=1e-3), {}),
        (Counted(priors=[0.2, 0.2, 0.6]), {}),
        (Counted(), {"fit_params": weights}),
    ):
        fitted = Counted.fits
        asked.responder(estimator, query_budget=1 / 8, **params).predict(X[:1])
        assert Counted.fits >= fitted + 4
    assert asked.responder(Counted(), query_budget=1 / 8) is first


@pytest.mark.parametrize("count", [1, 3, 7, 49, 1000])
def test_as_many_answers_as_were_asked_for_fit_and_hardly_more_is_left(count: int) -> None:
    asked = session()
    asked.release(GaussianNB(), budget=0.3)
    left = Fraction(asked.ledger.remaining)
    step = asked.responder(GaussianNB(), max_answers=count).step_budget
    assert left * (1 - Fraction(1, 10**11)) < count * Fraction(step) < left


def test_the_ends_of_what_a_step_may_cost() -> None:
    asked = session()
    assert asked.responder(GaussianNB(), query_budget=1.0).step_budget == 1.0
    with pytest.raises(BudgetExhaustedError):
        asked.responder(GaussianNB(), query_budget=np.nextafter(1.0, 2))
    assert 0 < asked.responder(GaussianNB(), max_answers=2**40).step_budget < 2.0**-39
    for wrong in (0, 2**62 + 1, 1.5):
        with pytest.raises((ValueError, TypeError), match="max_answers"):
            asked.responder(GaussianNB(), max_answers=wrong)


def test_what_was_exported_answers_as_before(
    in_a_child: Callable[[Callable[[], Any]], Any],
) -> None:
    with session() as asked:
        responder = asked.responder(GaussianNB(), query_budget=1 / 64)
        told = responder.answer(X[50:100])
        again = Responders(procedure_of(asked))
        models, saved = responders_of(asked).export()
        again.restore(models, saved)
        assert again.export()[0] == models
        (state,) = saved.values()
        assert again.export()[1] == saved
        keep_responders(asked, again)
        found = asked.responder(GaussianNB(), query_budget=1 / 64)
        assert found is not responder
        np.testing.assert_array_equal(found.answer(X[50:100]).values, told.values)
        assert (found.step_budget, found.n_answered) == (1 / 64, 100)
        assert found.n_contested == state.n_contested == responder.n_contested
        again.close()
        assert noise_of(again).is_closed
        asks = partial(asked.responder, GaussianNB(), query_budget=1 / 64)
        assert isinstance(in_a_child(asks), ForeignProcessError)


def test_answers_in_a_ledger_stand_under_the_session_and_the_request(tmp_path: Any) -> None:
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", 4.0)
    asked = PrivacySession(X, Y, budget=Nats(1.0), secret=Subsets(4), ledger=ledger, store="ledger")
    stored = [
        name_in_ledger_of(answers_of(asked.responder(GaussianNB(), query_budget=step)))
        for step in (0.1, 0.2)
    ]
    names = requests_of(responders_of(asked))
    assert stored == [f"{account_of(asked).session}/{name}" for name in names]
    assert len(set(names)) == 2
