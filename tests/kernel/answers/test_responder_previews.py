"""What queries would cost, without a look at the secret."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pacsklearn.estimators.cost_preview import preview
from pacsklearn.kernel.answers import responder as responder_module
from tests.kernel.answers.contested import MODEL, session_on


def test_a_preview_looks_at_nothing(rows: Any, untouched: list[int]) -> None:
    X, _ = rows
    session = session_on(rows)
    responder = session.responder(MODEL, query_budget=1 / 100)
    cost = preview(responder, X[80:])
    assert cost.n_stored + cost.n_unanimous + cost.n_contested == 80
    assert untouched == []
    assert session.ledger.events == ()
    assert responder.n_answered == 0
    responder.predict(X[80:])
    assert untouched
    assert session.ledger.spent == pytest.approx(cost.nats)


def test_a_preview_counts_across_batches(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = rows
    monkeypatch.setattr(responder_module, "_BATCH_ROWS", 7)
    responder = session_on(rows).responder(MODEL, query_budget=1 / 100)
    once = preview(responder, X[80:100])
    twice = preview(responder, np.concatenate([X[80:100], X[85:100]]))
    assert (once.n_queries, once.n_stored) == (20, 0)
    assert (twice.n_queries, twice.n_stored) == (35, 15)
    assert (twice.n_unanimous, twice.n_contested) == (once.n_unanimous, once.n_contested)
    assert once.n_unanimous + once.n_contested == 20
    assert twice.nats == once.nats == pytest.approx(once.n_contested / 100)
    assert twice.worst_case == pytest.approx(0.35)
    margins = responder.answer(X[80:100]).margins
    assert margins.shape == (20,)
    assert np.isinf(margins).sum() >= once.n_unanimous
    assert preview(responder, X[80:100]).n_stored == 20
