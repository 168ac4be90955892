"""No released value rules out a candidate with certainty through the grain of floating point.

Noise added in floating point betrays its centre: the doubles near a noise draw ``x`` lie on a grid
whose grain is the size of ``x``, so of the doubles ``r`` that ``centre + x`` could round to, only
some are reached from each centre (Mironov, "On significance of the least significant bits for
differential privacy", 2012). One release that one candidate can produce and another cannot tells
them apart with certainty, whatever the mutual information on paper.

The test takes releases of one candidate and counts how many of the other candidates could *not*
have made each of them. What "could" means is exact for both mechanisms:

* plain noise: is there any double ``x`` with ``fl(centre + x) == r``? As ``fl(centre + x)`` never
  falls when ``x`` grows, it is enough to try the doubles next to ``r - centre``. This favours plain
  noise: its generator reaches only some of these ``x``.
* the lattice: is ``r`` the decoded value of integers ``w``, to the last bit, for which every
  candidate's ``w - centre`` is an integer the discrete Gaussian can give? It gives every integer.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn.datasets import load_iris

from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, NoiseLaw, Support, Target
from pacsklearn.kernel.noise.sampler import SecureSampler
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.secrets import balanced_space
from pacsklearn.shaping.closed_forms import EigenBackend

pytestmark = pytest.mark.statistical

Floats = NDArray[np.float64]

N_RELEASES = 300
BUDGET = 1 / 16


class Mechanism(Protocol):
    """Releases a value for a candidate, and knows which candidates could have made a value."""

    n_candidates: int

    def releases(self, index: int, size: int) -> Floats: ...

    def could_make(self, release: Floats, index: int) -> bool: ...


class PlainNoise:
    """``centre + sigma * numpy's normal`` along the law's axes, the way it must not be done."""

    def __init__(self, outputs: Floats, law: NoiseLaw) -> None:
        self.n_candidates = len(outputs)
        self._centres = (outputs - law.origin) @ law.axes.T
        self._sigma = law.step * law.scale
        self._generator = np.random.default_rng(5)

    def releases(self, index: int, size: int) -> Floats:
        noise = self._generator.normal(size=(size, self._sigma.size))
        return self._centres[index] + self._sigma * noise

    def could_make(self, release: Floats, index: int) -> bool:
        centre = self._centres[index]
        nearest = release - centre
        hits = [
            centre + noise == release
            for noise in (nearest, np.nextafter(nearest, np.inf), np.nextafter(nearest, -np.inf))
        ]
        return bool(np.all(np.any(hits, axis=0)))


class Lattice:
    """The real path: integers from the secure sampler, ``NoiseLaw.observe`` and ``decode``."""

    def __init__(self, outputs: Floats, law: NoiseLaw) -> None:
        self.n_candidates = len(outputs)
        self._law = law
        self._sampler = SecureSampler()

    def releases(self, index: int, size: int) -> Floats:
        k = self._law.dimension
        noise = self._sampler.noise(size * k).reshape(size, k)
        return np.stack([self._law.decode(self._law.observe(index, row)) for row in noise])

    def could_make(self, release: Floats, index: int) -> bool:
        law = self._law
        integers = np.rint((release - law.origin) @ np.linalg.pinv(law.axes) / law.step)
        observed = integers.astype(np.int64)
        if not np.array_equal(law.decode(observed), release):
            return False
        likelihood = law.log_likelihood(observed)[index]
        return bool(np.isfinite(likelihood)) and law.scale == LATTICE_SCALE


def share_ruled_out(mechanism: Mechanism) -> float:
    """Share of (release of candidate 0, other candidate) that certainly do not belong together."""
    others = range(1, mechanism.n_candidates)
    ruled_out = [
        not mechanism.could_make(release, other)
        for release in mechanism.releases(0, N_RELEASES)
        for other in others
    ]
    return float(np.mean(ruled_out))


@pytest.fixture(scope="module")
def outputs() -> Floats:
    """Column means of the Iris data on eight candidate subsets."""
    X = load_iris().data
    space = balanced_space(len(X), n_subsets=8)
    return np.stack([X[space.rows(i)].mean(axis=0) for i in range(8)])


@pytest.fixture(scope="module")
def law(outputs: Floats) -> NoiseLaw:
    return EigenBackend().calibrate(Support(outputs), Target(BUDGET), IdentityMetric())


def test_the_lattice_never_rules_a_candidate_out(outputs: Floats, law: NoiseLaw) -> None:
    assert share_ruled_out(Lattice(outputs, law)) == 0.0


def test_plain_noise_fails_the_very_test(outputs: Floats, law: NoiseLaw) -> None:
    # Every candidate explains its own releases, so what is counted is no artefact.
    plain = PlainNoise(outputs, law)
    assert all(plain.could_make(release, 0) for release in plain.releases(0, N_RELEASES))
    assert share_ruled_out(plain) > 0.2  # 0.4 with this seed; a tenth for each coordinate


def test_the_last_bits_of_the_integers_say_nothing(law: NoiseLaw) -> None:
    # Uniform whatever the candidate; fails for no reason with probability below 1e-9.
    sampler = SecureSampler()
    for index in range(2):
        integers = law.observe(index, sampler.noise(6000 * law.dimension).reshape(6000, -1))
        for column in integers.T:
            assert stats.chisquare(np.bincount(column % 16, minlength=16)).pvalue > 1e-10
