"""Padding that meets a budget exactly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.noise.sampler import SecureSampler, SeededSampler
from pacsklearn.padding.least_padding import channel_information
from pacsklearn.padding.one_sided_law import OneSidedBackend

TIMES = np.array([[40.0], [10.0], [10.0], [25.0], [12.0], [40.0]])
WEIGHTS = np.array([0.1, 0.3, 0.1, 0.2, 0.2, 0.1])


def law_of(budget, weights=WEIGHTS):
    return OneSidedBackend().calibrate(Support(TIMES, weights), Target(budget))


@pytest.mark.parametrize("budget", [1e-6, 0.05, 0.4, 1.0])
def test_the_bound_is_the_information_about_the_candidate(budget):
    law = law_of(budget)
    rows = np.stack([law.channel[index] for index in range(6)])
    assert law.bound == pytest.approx(channel_information(WEIGHTS, rows), rel=1e-9)
    assert law.bound <= budget
    assert law.confidence == 1.0
    assert not law.is_noiseless


def test_never_below_the_own_value():
    law = law_of(0.3)
    for index, (own,) in enumerate(TIMES):
        possible = np.flatnonzero(law.channel[index])
        assert all(law.decode(level) >= own for level in possible)


def test_what_is_drawn_has_the_law_s_probabilities():
    law, sampler = law_of(0.5), SeededSampler(np.random.default_rng(0))
    levels = np.array([sampler.index(law.channel[1]) for _ in range(20_000)])
    share = law.channel[1]
    seen = np.bincount(levels, minlength=share.size)
    assert np.all(seen[share == 0] == 0)
    assert chisquare(seen[share > 0], share[share > 0] * 20_000).pvalue > 1e-4
    assert law.channel[1][SecureSampler().index(law.channel[1])] > 0


def test_likelihoods_are_the_channel_s():
    law = law_of(0.5)
    for level in range(law.padding.levels.size):
        expected = [law.channel[index][level] for index in range(6)]
        assert np.exp(law.log_likelihood(level)) == pytest.approx(expected)


def test_a_budget_that_covers_the_values_needs_no_padding():
    law = law_of(1.5)
    assert law.is_noiseless
    assert law.expected_padding == 0.0
    assert law.bound <= 1.5
    # Candidates of one value stay hidden among themselves.
    assert law.bound < Support(TIMES, WEIGHTS).entropy


def test_comparisons():
    law = law_of(0.4)
    assert law.expected_padding < law.bucket_padding <= law.constant_padding + 1e-9
    assert law.constant_padding == pytest.approx(float(WEIGHTS @ (40 - TIMES[:, 0])))


def test_a_belief_that_has_ruled_candidates_out():
    law = law_of(0.2, np.array([0.0, 0.5, 0.0, 0.5, 0.0, 0.0]))
    assert law.bound <= 0.2
    assert law.expected_padding <= 7.5
    assert law.channel[0].sum() == 1.0


def test_arguments():
    with pytest.raises(ValueError, match="candidate"):
        OneSidedBackend().calibrate(Support(np.ones((3, 2))), Target(0.1))
    with pytest.raises(ValueError, match="whole"):
        OneSidedBackend().calibrate(Support(TIMES + 0.5), Target(0.1))
    with pytest.raises(ValueError, match="coarser"):
        OneSidedBackend().calibrate(Support(TIMES * 2.0**52), Target(0.1))


def test_secret_material_stays_out_of_the_repr():
    assert "40" not in repr(law_of(0.3)).replace("bucket_padding", "").split("bound=")[0]
