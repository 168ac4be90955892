"""Answers to a batch: what it is charged, and the noise that it takes."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from pacsklearn.kernel.answers.answered_rows import AnswerLaw
from pacsklearn.kernel.bounds.belief import update_belief
from tests.inside import noise_of, responders_of
from tests.kernel.answers.contested import MODEL, session_on


def test_many_rows_cost_no_less_than_all_there_is_to_tell() -> None:
    """Entropies at 50 digits: rounding may only ever add to the charge."""
    generator = np.random.default_rng(0)
    with mpmath.workdps(50):
        for m in (2, 3, 8, 128, 1000):
            belief = update_belief(np.zeros(m), 3 * generator.standard_normal(m))
            shares = [mpmath.exp(mpmath.mpf(weight)) for weight in belief.tolist()]
            total = mpmath.fsum(shares)
            told = -mpmath.fsum(share / total * mpmath.log(share / total) for share in shares)
            charged = mpmath.mpf(AnswerLaw.of(10**6, 1.0, belief).bound)
            assert told <= charged <= told * (1 + mpmath.mpf(10) ** -11)


def test_a_batch_takes_its_noise_once(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing noise takes time: none is drawn to be thrown away."""
    session = session_on(rows)
    responder = session.responder(MODEL, query_budget=1 / 1000)
    pool, taken = noise_of(responders_of(session)), []
    take = pool.take
    monkeypatch.setattr(pool, "take", lambda n: taken.append(n) or take(n))
    responder.predict(np.random.default_rng(0).standard_normal((600, 4)))
    assert responder.n_contested > 300
    assert taken == [3 * responder.n_contested]
