"""Answers whose storing was interrupted: the belief is that after what is on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn import PrivacySession
from pacsklearn.accounting.sqlite_ledger import SQLiteLedger
from pacsklearn.responses.ledger_answers import LedgerAnswers

MODEL, STEP = KNeighborsClassifier(1), {"query_budget": 2.0**-9}


def queries(seed: int) -> Any:
    """Where the classes overlap, so that candidates disagree."""
    return np.random.default_rng(seed).uniform([5.0, 2.2], [7.5, 3.6], (12, 2))


@pytest.mark.parametrize("is_stored", [False, True])
def test_the_belief_after_an_interrupt_is_that_on_disk(
    is_stored: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = SQLiteLedger.found(f"sqlite:///{tmp_path}/ledger.db", 4.0)
    X, y = load_iris(return_X_y=True)
    session = PrivacySession(X[:, :2], y, budget=2.0, n_subsets=8, ledger=ledger, store="ledger")
    session.respond(MODEL, queries(0), **STEP)
    responder, table = session.responder(MODEL, **STEP), session._answer_table
    assert table is not None
    before = responder.log_belief
    add = LedgerAnswers.add

    def interrupted(self: LedgerAnswers, *args: Any) -> None:
        if is_stored:
            add(self, *args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LedgerAnswers, "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.respond(MODEL, queries(1), **STEP)
    spent = ledger.spent
    session._account.settle_answers()
    np.testing.assert_array_equal(responder.log_belief, table.last_belief()[1])
    assert np.array_equal(responder.log_belief, before) == (not is_stored)
    # The charge stays; what is on disk is told, and the rest is asked and charged anew.
    session.respond(MODEL, queries(1), **STEP)
    assert (ledger.spent == spent) == is_stored
