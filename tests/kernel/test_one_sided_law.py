"""Padding: the channel that is published is the one that is drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.padding.one_sided_law import OneSidedBackend, OneSidedLaw

VALUES = np.array([3.0, 1.0, 3.0, 7.0, 2.0])
WEIGHTS = np.array([0.1, 0.3, 0.2, 0.2, 0.2])


def law_of(budget: float) -> OneSidedLaw:
    return OneSidedBackend().calibrate(Support(VALUES[:, None], WEIGHTS), Target(budget))


@pytest.mark.parametrize("budget", [0.05, 0.2, 9.0])
def test_every_candidate_is_padded_and_tells_what_is_stated(budget: float) -> None:
    law = law_of(budget)
    channel = np.array([law.channel[index] for index in range(5)])
    assert channel.sum(axis=1) == pytest.approx(np.ones(5), abs=1e-15)
    levels = [law.decode(level) for level in range(channel.shape[1])]
    assert {type(level) for level in levels} == {int}
    padding = np.array(levels) - VALUES[:, None]
    assert padding[channel > 0].min() >= 0
    assert law.expected_padding == pytest.approx(WEIGHTS @ (channel * padding).sum(axis=1))
    assert law.noise_power == pytest.approx(WEIGHTS @ (channel * padding**2).sum(axis=1))
    # Mutual information by its definition.
    shares = WEIGHTS @ channel
    ratio = np.divide(channel, shares, out=np.ones_like(channel), where=channel > 0)
    told = float((WEIGHTS[:, None] * channel * np.log(ratio)).sum())
    assert told <= law.bound * (1 + 1e-12)
    assert law.bound == pytest.approx(told, abs=1e-9)
    assert law.bound <= budget
    for level in range(channel.shape[1]):
        assert np.exp(law.log_likelihood(level)) == pytest.approx(channel[:, level])
    assert law.is_noiseless == (budget == 9.0)
    assert ("entropy of the values" in law.proof) == law.is_noiseless
    assert (law.information, law.confidence, law.backend) == (None, 1.0, "one_sided")
    assert not [each for each in ("3", "7", "row", "counts") if each in repr(law).split("bound")[0]]
