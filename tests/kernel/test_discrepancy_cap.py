"""Which bounds on differing rows stand for which, and what is said of them."""

from __future__ import annotations

import math
import pickle
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from pacsklearn.srpp.descent.discrepancy_cap import DiscrepancyCap
from pacsklearn.srpp.divergence.discrepancy import SAMPLINGS
from tests.kernel.recorded_cap import recorded_cap

KNOWN = DiscrepancyCap.differing(1000, 5, 50)
MOMENT = DiscrepancyCap.of_variation(0.01, 1000, 50, delta=1e-3)


def law_of(*shares: float, **changes) -> DiscrepancyCap:
    second = float(np.dot(np.arange(len(shares)) ** 2, shares))
    with np.errstate(divide="ignore"):
        logs = np.log(shares)
    facts = {"log_law": tuple(logs.tolist()), "largest": len(shares) - 1, "second_moment": second}
    return recorded_cap(KNOWN, **facts | changes)


def test_a_larger_count_covers_a_smaller_one_and_not_the_other_way_round() -> None:
    caps = [DiscrepancyCap.differing(1000, number, 50) for number in (1, 4, 5, 6)]
    for i, cap in enumerate(caps):
        for j, other in enumerate(caps):
            assert cap.covers(other) == (i >= j)


def test_counts_are_compared_by_their_tails() -> None:
    """Prices are other functions of the count than its square."""
    even = law_of(0.5, 0.0, 0.5)
    assert even.covers(law_of(0.5, 0.25, 0.25))
    # Its mean square is larger, and it is less likely to reach 1.
    assert not law_of(0.6, 0.0, 0.2, 0.2).covers(even)
    rounded = law_of(0.5 + 1e-12, 0.0, 0.5 - 1e-12)
    assert rounded.covers(even)
    assert not law_of(0.5 + 1e-8, 0.0, 0.5 - 1e-8, second_moment=even.second_moment).covers(even)
    # One that goes further covers what ends before it, and is not covered by it.
    far = law_of(0.4, 0.0, 0.4, 0.2)
    assert far.covers(even)
    assert not even.covers(far)


@pytest.mark.parametrize("factor", [1.0, 1 - 1e-10, 1 - 1e-8])
def test_the_mean_square_counts_on_its_own_account(factor: float) -> None:
    less = recorded_cap(KNOWN, second_moment=KNOWN.second_moment * factor)
    assert less.covers(KNOWN) == (factor > 1 - 1e-9)
    assert less.covers(KNOWN, rounding=1e-7)
    assert KNOWN.covers(less)


def test_caps_without_a_law_need_count_and_tail() -> None:
    assert MOMENT.covers(MOMENT)
    for changes in ({"largest": MOMENT.largest - 1}, {"tail": MOMENT.tail / 2}):
        assert not recorded_cap(MOMENT, **changes).covers(MOMENT)
        assert MOMENT.covers(recorded_cap(MOMENT, **changes))
    # Of a law one may be exceeded as often as it is said to be.
    beyond = float(KNOWN.law[3:].sum())
    bounds = {"log_law": None, "largest": 2, "second_moment": KNOWN.second_moment}
    assert recorded_cap(KNOWN, **bounds, tail=beyond).covers(KNOWN)
    assert not recorded_cap(KNOWN, **bounds, tail=beyond * 0.999).covers(KNOWN)


@pytest.mark.parametrize(
    "changes",
    [
        {"n_rows": 0},
        {"n_rows": 2.5},
        {"batch_size": 0},
        {"largest": -1},
        {"largest": True},
        {"sampling": "shuffled"},
        {"tail": 1.5},
        {"failure": -3},
        {"second_moment": math.nan},
        {"second_moment": -1.0},
    ],
)
def test_sizes_are_checked(changes: dict[str, object]) -> None:
    (name,) = changes
    with pytest.raises(ValueError, match=f"^{name} (of an event )?must be"):
        recorded_cap(MOMENT, **changes)
    recorded_cap(MOMENT, n_rows=1, batch_size=1, largest=0)


def test_caps_are_equal_by_their_numbers_and_nobody_changes_a_law() -> None:
    again = DiscrepancyCap.differing(1000, 5, 50)
    assert again == KNOWN
    assert hash(KNOWN) == hash(again)
    copied = pickle.loads(pickle.dumps(KNOWN))
    assert copied == KNOWN
    assert (KNOWN == 5) is False
    same = recorded_cap(KNOWN)
    other = KNOWN.log_law.copy()
    other[1] = math.nextafter(other[1], 0)
    assert recorded_cap(KNOWN, log_law=tuple(other.tolist())) != same
    for name, value in (("tail", 0.125), ("failure", 0.125), ("log_law", None)):
        assert recorded_cap(KNOWN, **{name: value}) != same
    assert recorded_cap(KNOWN, second_moment=math.nextafter(KNOWN.second_moment, 1)) != same
    for each in (KNOWN, copied):
        with pytest.raises(ValueError, match="read-only"):
            each.log_law[0] = 0.0
    assert "log_law" not in repr(KNOWN)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_where_bounds_come_from_is_said(sampling: str) -> None:
    cap = DiscrepancyCap.differing(50_000, 2_000, 512, sampling)
    assert cap.source.startswith("at most 2,000 of 50,000 rows differ; ")
    word = {"poisson": "differing rows", "with-replacement": "the draws"}.get(sampling, "hyper")
    assert word in cap.source
    assert (cap.tail, cap.failure, cap.mean_over_data) == (0.0, 0.0, False)
    assert "total variation at most 0.01" in MOMENT.source
    assert (MOMENT.tail, MOMENT.failure, MOMENT.mean_over_data) == (1e-3, 0.0, True)
    draws = np.random.default_rng(0).binomial(9, 0.1, (2, 3000))
    drawn = DiscrepancyCap.sampled(draws, 1000, 50, sampling, delta=0.1, gamma=1e-3)
    assert drawn.source.startswith("3,000 simulated batches for each of 2 prior(s)")
    assert (drawn.tail, drawn.failure, drawn.mean_over_data) == (0.1, 1e-3, True)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_coupled_data_sets_of_which_every_row_differs(sampling: str) -> None:
    """Every row of a batch differs then: as many as it has, which is fixed but for one sampling."""
    cap = DiscrepancyCap.coupled(np.full(3000, 100), 100, 10, sampling, delta=0.05, gamma=1e-3)
    spread = 0.0 if sampling != "poisson" else 10 * (1 - 0.1)  # variance of the batch's size
    assert cap.second_moment == pytest.approx(100 + spread, rel=0.05)
    assert (cap.largest == 10) == (sampling != "poisson")
    assert cap.largest >= 10
    assert cap.source.startswith("3,000 simulated batches for each of 1 prior(s)")
    again = DiscrepancyCap.coupled(np.full(3000, 100), 100, 10, sampling, delta=0.05, gamma=1e-3)
    assert again == cap  # by a public seed


@pytest.mark.parametrize(
    ("change", "message"),
    [({"sampling": "bootstrap"}, "sampling"), ({"batch_size": 101}, "batch_size")],
)
def test_coupled_draws_name_what_is_wrong(change: dict[str, Any], message: str) -> None:
    """Anything unknown was drawn as by Poisson sampling, and counts were blamed."""
    arguments = {"n_rows": 100, "batch_size": 10} | change
    with pytest.raises(ValueError, match=message):
        DiscrepancyCap.coupled(np.full(3000, 100), **arguments)


def test_figures_are_those_of_a_law_and_nobody_sets_them() -> None:
    """One row for twenty took 2.8 clipping norms of noise for 57; failure -3 a confidence of 4."""
    cap = DiscrepancyCap.differing(1000, 20, 50)
    figures = {each.name: getattr(cap, each.name) for each in fields(cap)}
    for change in ({}, {"largest": 1}, {"failure": -3}, {"second_moment": 1e-9}):
        with pytest.raises(TypeError, match="follow"):
            DiscrepancyCap(**figures | change)
        with pytest.raises(TypeError, match="follow"):
            replace(cap, **change)


@pytest.mark.parametrize(
    "change", [{"largest": 1}, {"second_moment": 1e-3}, {"log_law": (-0.1, -np.inf, -np.inf)}]
)
def test_an_event_whose_figures_contradict_each_other_is_not_priced(change: Any) -> None:
    with pytest.raises(ValueError, match="log_law"):
        recorded_cap(DiscrepancyCap.differing(1000, 2, 50), **change)
