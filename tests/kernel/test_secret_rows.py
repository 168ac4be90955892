"""What is said of those who know some memberships: the very figures, rounded up."""

from __future__ import annotations

import math
import re

import pytest

from pacsklearn._statement_layout import knowledge_rows
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.guarantee.statement_rendering import percent_up
from pacsklearn.kernel.secret.secret_rows import RowsSecret, SecretRows
from pacsklearn.kernel.secret.stated_secret import Bounds
from pacsklearn.sampled.drawn_rows import DrawnRows

KNOWN = ((0.5, 0.5), (0.51, 0.62), (0.53, 0.75), (0.57, 0.875))
BOUNDS = Bounds(0.25, 0.8379, 0.1234567)
COMMON = {"entropy": math.log(128), "unit": "row", "n_rows": 1500, "n_units": 1000}


def listed(**changes) -> SecretRows:
    facts = {"n_candidates": 128, "prior_identification": 1 / 128, "prior_membership": 0.5}
    return SecretRows(**COMMON | facts | changes)


def drawn(**changes) -> DrawnRows:
    return DrawnRows(**COMMON | {"least_log": 9.0, "rate": 0.5} | changes)


@pytest.mark.parametrize("secret", [listed(known=KNOWN), drawn(known=KNOWN)])
def test_the_text_has_the_figures_of_each_number_of_known_rows(secret: RowsSecret) -> None:
    rows = dict(knowledge_rows(secret, 0.25))
    for column, name in enumerate(("knowing k of them", "k against the worst")):
        cells = re.findall(r"(\d): ([\d.]+) to ([\d.]+) %", rows[name])
        expected = [
            (str(k), percent_up(pair[column]), percent_up(posterior_success(0.25, pair[column])))
            for k, pair in enumerate(KNOWN)
        ]
        assert cells == expected[1:]  # who knows none stands in the promise
        assert "standard error" not in rows[name]
        # All that is known of a list is looked up in it; drawn subsets are counted.
        is_searched = isinstance(secret, SecretRows) and name == "k against the worst"
        assert ("a search found" in rows[name]) == is_searched
    assert dict(secret.rows(BOUNDS))["naming the subset"] == "at most 12.35 %"


def test_known_rows_are_those_that_are_stated() -> None:
    for secret in (listed(known=KNOWN), drawn(known=KNOWN)):
        for k, (uniform, chosen) in enumerate(KNOWN):
            found = secret.knowing(k, 0.25)
            assert (found.blind, found.worst_blind, found.error) == (uniform, chosen, 0.0)
            assert found.bound == posterior_success(0.25, uniform)
            assert found.worst_bound == posterior_success(0.25, chosen)
        for wrong in (-1, 4, 100):
            with pytest.raises(ValueError, match=f"k must be from 0 to 3, got {wrong}"):
                secret.knowing(wrong, 0.25)


def test_the_share_of_candidates_that_a_unit_is_in() -> None:
    assert listed().shares == 0.5
    assert listed(prior_membership=0.75).shares == "0.25 or 0.75"


def test_three_standard_errors_never_pass_certainty() -> None:
    secret = listed(known=((0.5, 0.5), (0.99, 1.0)), known_errors=(0.0, 0.01))
    assert secret.knowing(1, 0.25).bound == 1.0
    near = listed(known=((0.5, 0.5), (0.9, 1.0)), known_errors=(0.0, 0.01))
    assert near.knowing(1, 0.25).bound == posterior_success(0.25, 0.93)


def test_nobody_to_learn_from_is_not_spoken_of() -> None:
    for secret in (listed(), listed(known=KNOWN[:1]), drawn(), drawn(known=KNOWN[:1])):
        assert not knowledge_rows(secret, 0.25)


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (0.5, "each row is in half of them"),
        (0.5 + 1e-15, "each row is in half of them"),
        (0.5 + 1e-3, "each row is in 0.499 or 0.501 of them"),
        (0.75, "each row is in 0.25 or 0.75 of them"),
    ],
)
def test_how_many_subsets_hold_a_row(prior: float, words: str) -> None:
    said = dict(listed(prior_membership=prior).rows(BOUNDS))["secret"]
    assert said == f"1 of 128 subsets (4.852 nats); {words}"


def test_whether_the_list_is_public_is_said() -> None:
    assert dict(listed().rows(BOUNDS))["list of subsets"].startswith("public: ")
    secret = listed(is_listed=False)
    assert dict(secret.rows(BOUNDS))["list of subsets"].startswith("drawn in secret; ")


def test_the_promise_has_the_bound_and_the_blind_success() -> None:
    said = listed(prior_membership=0.6).promise("it", BOUNDS)
    assert "all 1,500 rows" in said
    assert "any one row was used with a success of at most 83.79 %" in said
    assert said.endswith("guessing blindly has 60.00 %.")
    assert "any one group of rows was" in listed(unit="group").promise("it", BOUNDS)
    assert listed().exceptions == ""


@pytest.mark.parametrize(
    ("rate", "prior", "share"), [(0.5, 0.5, "half"), (0.25, 0.75, "0.25"), (0.8, 0.8, "0.8")]
)
def test_a_drawn_subset(rate: float, prior: float, share: str) -> None:
    """Blind success is that of the likelier answer, and of the likeliest subset."""
    secret = drawn(rate=rate)
    assert secret.prior_membership == pytest.approx(prior)
    assert secret.prior_identification == pytest.approx(math.exp(-9.0))
    assert secret.intrinsic_privacy is None
    said = dict(secret.rows(BOUNDS))["secret"]
    assert f"hold {share} of every class (4.852 nats)" in said
