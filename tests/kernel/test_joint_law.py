"""Several releases of one secret are one release: that of all their integers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from pacsklearn.kernel.noise.joint_law import JointLaw
from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric


def law_of(seed: int, budget: float, width: int = 2, **shape: float) -> NoiseLaw:
    rows = np.random.default_rng(seed).standard_normal((5, width)) * shape.get("size", 1.0)
    return LogdetBackend().calibrate(Support(rows), Target(budget), IdentityMetric())


def test_integers_likelihoods_and_bounds_of_two_laws() -> None:
    laws = law_of(0, 0.1), law_of(1, 0.4, 3)
    joint = JointLaw(laws)
    assert joint.dimension == 5
    assert joint.centres.shape == (5, 5)
    assert np.array_equal(joint.centres[:, 2:], laws[1].centres)
    assert joint.scale == LATTICE_SCALE
    assert not joint.is_noiseless
    assert joint.bound == pytest.approx(0.5, rel=1e-6)
    assert joint.bound == laws[0].bound + laws[1].bound
    assert joint.information is None
    assert joint.confidence == 1
    assert joint.backend == laws[0].backend == "logdet"
    assert joint.proof != laws[0].proof
    # Against the normal density of all integers, which are wide enough for it.
    observed = joint.centres[3] + np.array([5, -(10**5), 10**6, 0, 3 * 10**6])
    found = joint.log_likelihood((observed[:2], observed[2:]))
    density = norm.logpdf(observed, joint.centres, LATTICE_SCALE).sum(axis=1)
    assert found - logsumexp(found) == pytest.approx(density - logsumexp(density), abs=1e-9)


def test_one_law_is_itself() -> None:
    law = law_of(0, 0.1)
    joint = JointLaw((law,))
    assert (joint.proof, joint.information, joint.bound) == (law.proof, law.information, law.bound)
    assert np.array_equal(joint.centres, law.centres)


def test_a_release_without_noise_is_one_of_all_only_if_it_depends_on_the_secret() -> None:
    noisy, constant = law_of(0, 0.1), law_of(1, 0.1, size=0.0)
    assert constant.dimension == 0
    assert JointLaw((noisy, constant)).scale == LATTICE_SCALE
    assert JointLaw((constant, noisy)).dimension == noisy.dimension
    exact = law_of(1, 5.0)  # more than the entropy of five candidates
    assert exact.is_noiseless
    assert JointLaw((noisy, exact)).is_noiseless
    assert JointLaw((noisy, exact)).n_noisy == noisy.dimension


def test_doubts_add_up_and_information_is_that_of_one_law_alone() -> None:
    law = law_of(0, 0.1)
    doubtful = replace(law, confidence=0.75, information=0.25)
    assert JointLaw((law, doubtful)).confidence == 0.75
    assert JointLaw((doubtful, doubtful)).confidence == 0.5
    assert JointLaw((doubtful,) * 5).confidence == 0.0
    assert JointLaw((doubtful,)).information == 0.25
    assert JointLaw((doubtful, law)).information is None
    other = replace(law, backend="eigen")
    assert JointLaw((law, other, law)).backend == "eigen, logdet"
