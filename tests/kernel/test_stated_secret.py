"""Guarantees about secrets that are no subsets of rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pacsklearn import Guarantee, PrivacySession
from pacsklearn._statement_layout import knowledge_rows
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.secret.secret_rows import SecretRows
from pacsklearn.sampled.sampled_secret import SampledSecret


@pytest.fixture
def guarantee():
    with PrivacySession.over(range(256), budget=0.25) as session:
        return session.release_function(lambda key: [key.bit_count(), key % 3]).guarantee


def test_a_candidate_is_named_and_rows_are_not_spoken_of(guarantee):
    text = str(guarantee)
    assert "names the one that was used" in guarantee.promise
    assert "0.40 %" in guarantee.promise
    assert guarantee.posterior_identification == posterior_success(guarantee.spent, 1 / 256)
    assert "row" not in text.replace("group", "")
    assert "1 of 256 candidates" in text
    assert "naming the candidate" in text
    assert "at even odds" in text


def test_a_sampled_secret(guarantee):
    sampled = replace(guarantee, secret=SampledSecret())
    assert "question about it" in sampled.promise
    assert "83.79 %" in sampled.promise
    assert sampled.posterior_identification == 1.0
    assert "candidate" not in str(sampled).split("not covered")[0].replace("the candidate", "")


def test_round_trip(guarantee):
    assert Guarantee.from_json(guarantee.to_json()) == guarantee
    sampled = replace(guarantee, secret=SampledSecret())
    assert Guarantee.from_json(sampled.to_json()) == sampled
    assert "question about it" in sampled._repr_html_()


def test_bounds_from_estimates_allow_for_their_standard_errors() -> None:
    secret = SecretRows(
        n_candidates=128,
        entropy=4.85,
        prior_identification=1 / 128,
        unit="row",
        n_rows=500,
        n_units=500,
        prior_membership=0.5,
        known=((0.5, 0.5), (0.54, 0.55)),
        known_errors=(0.0, 0.002),
    )
    known = secret.knowing(1, 0.25)
    assert known.error == 0.002
    assert known.bound == posterior_success(0.25, 0.546)
    assert known.worst_bound == posterior_success(0.25, 0.55)
    text = dict(knowledge_rows(secret, 0.25))["knowing k of them"]
    assert "standard errors of at most 0.20 %; the bounds allow three" in text
