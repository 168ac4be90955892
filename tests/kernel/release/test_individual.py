"""What a release tells about each unit, where it is known exactly."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pacsklearn.estimators.individual_information import information_about_units
from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.secrets import balanced_space

SPACE = balanced_space(20, n_subsets=8)


def entropy(*shares: float) -> float:
    return -sum(share * math.log(share) for share in shares if share)


@pytest.mark.parametrize("size", [1.0, 3.0])
def test_a_release_without_noise_tells_memberships_as_far_as_outputs_differ(size) -> None:
    """Four values for eight candidates: what is left is the doubt among those that agree."""
    numbers, belief = np.arange(8) // 2, np.arange(1.0, 9.0) / 36
    law = LogdetBackend().calibrate(
        Support(numbers[:, None].astype(float), belief), Target(10.0), IdentityMetric()
    )
    assert law.is_noiseless
    law = replace(law, centres=numbers[:, None])  # as near to each other as integers can be
    expected = []
    for members in SPACE.membership():
        told = entropy(belief[members].sum(), belief[~members].sum())
        for number in range(4):
            same = numbers == number
            inside, share = belief[same & members].sum(), belief[same].sum()
            told -= share * entropy(inside / share, 1 - inside / share)
        expected.append(told)
    found = information_about_units(law, SPACE, belief * size)
    assert found.values == pytest.approx(np.array(expected), abs=0.03)
    assert np.all(found.bounds >= expected)
    assert found.confidence == 1 - 1e-6
