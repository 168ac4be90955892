"""A responder goes on from what it remembers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.responses.contested import MODEL, session_on


def test_a_responder_goes_on_from_what_it_exported(rows: Any) -> None:
    X, _ = rows
    session = session_on(rows)
    responder = session.responder(MODEL, query_budget=1 / 100)
    told = responder.answer(X[80:])
    state = responder.export()
    counts = (state.n_answered, state.n_contested)
    assert counts == (80, responder.n_contested)
    fresh = session.responder(MODEL, query_budget=1 / 101)
    fresh.restore(state)
    spent = session.ledger.spent
    again = fresh.answer(X[80:])
    np.testing.assert_array_equal(again.values, told.values)
    np.testing.assert_array_equal(again.margins, told.margins)
    assert session.ledger.spent == spent
    assert (fresh.n_answered, fresh.n_contested) == (160, counts[1])
    assert f"{160:,}, {counts[1]:,} of them charged" in str(fresh.guarantee_)
    assert (fresh.feature_names, fresh.remaining_budget) == (None, 2.0 - spent)
