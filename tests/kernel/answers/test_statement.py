"""What the guarantee of a session says of its answers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from pacsklearn import Guarantee, PrivacySession, Subsets
from pacsklearn.kernel.answers.statement import responses_guarantee


@pytest.fixture(scope="module")
def plain() -> Guarantee:
    X = np.random.default_rng(0).standard_normal((40, 2))
    with PrivacySession(X, X[:, 0] > 0, budget=0.25, secret=Subsets(8)) as session:
        session.release(GaussianNB())
        return session.guarantee_


@pytest.mark.parametrize(
    ("answered", "contested", "step", "worst"),
    [(0, 0, 0.25, "0"), (1200, 300, 1 / 16, "75"), (10**6, 7, 2.0**-20, "0.953674")],
)
def test_counts_and_what_charging_every_answer_would_cost(
    plain: Guarantee, answered: int, contested: int, step: float, worst: str
) -> None:
    found = responses_guarantee(plain, "labels", answered, contested, step)
    details = dict(found.details)
    assert details["answers given"] == f"{answered:,}, {contested:,} of them charged"
    assert details["step budget"] == f"{step:.6g} nats a charged answer"
    assert details["charging every answer"].startswith(f"{worst} nats ")
    assert details["certified membership"].startswith("none")
    assert found.released == ("answers (labels)",)
    assert found.public == (*plain.public, "which queries all candidates agree on")
    assert found.not_covered[: len(plain.not_covered)] == plain.not_covered
    assert "functions of the universe" in found.not_covered[-1]
    assert "function of the whole table" in found.headline


def test_no_figure_of_the_session_changes(plain: Guarantee) -> None:
    before, after = plain.to_dict(), responses_guarantee(plain, "labels", 9, 3, 0.1).to_dict()
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"headline", "released", "public", "not_covered", "details"}
