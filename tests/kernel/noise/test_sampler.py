"""Secret and noise: the right law, from the right source.

The checks of :class:`SecureSampler` cannot be seeded. Each has a stated chance of failing for no
reason, below 1e-9.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from pacsklearn.kernel.noise import sampler as module
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE
from pacsklearn.kernel.noise.sampler import Sampler, SecureSampler, SeededSampler

MANY = 20_000
RARE = 1e-10


def seeded(seed: int = 0) -> SeededSampler:
    return SeededSampler(np.random.default_rng(seed))


@pytest.fixture(scope="module")
def noise() -> np.ndarray:
    return SecureSampler().noise(MANY)


def test_noise_is_gaussian_of_the_lattice_scale(noise: np.ndarray) -> None:
    assert noise.dtype == np.int64
    # At this scale the discrete law and the normal one differ by less than 1e-6 in the CDF.
    assert stats.kstest(noise / LATTICE_SCALE, "norm").pvalue > RARE
    # Chi-square of the variance: relative sd sqrt(2 / n) = 1 %.
    assert abs(np.mean((noise / LATTICE_SCALE) ** 2) - 1) < 6.5 * np.sqrt(2 / MANY)


def test_every_integer_can_come(noise: np.ndarray) -> None:
    # The last bits are as random as the first: no grid coarser than the integers.
    counts = np.bincount(noise % 64, minlength=64)
    assert stats.chisquare(counts).pvalue > RARE
    assert np.unique(noise).size > 0.95 * MANY


def test_coordinates_are_independent(noise: np.ndarray) -> None:
    pairs = noise.reshape(-1, 2)
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 6.5 / np.sqrt(MANY / 2)


def test_the_secret_follows_the_weights() -> None:
    weights = np.array([0.5, 0.25, 0.125, 0.1, 0.025])
    drawn = [SecureSampler().index(weights) for _ in range(MANY)]
    counts = np.bincount(drawn, minlength=5)
    assert stats.chisquare(counts, weights * MANY).pvalue > RARE


def test_impossible_candidates_are_never_drawn() -> None:
    weights = np.array([0.0, 0.5, 0.0, 0.5, 0.0])
    assert {SecureSampler().index(weights) for _ in range(200)} == {1, 3}


@pytest.mark.parametrize(
    ("weights", "ticket", "index"),
    [
        ([0.25, 0.25, 0.5], 0, 0),
        ([0.25, 0.25, 0.5], 1, 1),
        ([0.25, 0.25, 0.5], 3, 2),
        ([2.0**-1000, 1.0], 0, 0),
        ([2.0**-1000, 1.0], 1, 1),
        ([2.0**-1000, 1.0], 2**1000, 1),
    ],
)
def test_tickets_are_counted_exactly(
    monkeypatch: pytest.MonkeyPatch, weights: list[float], ticket: int, index: int
) -> None:
    def below(total: int) -> int:
        assert ticket < total
        return ticket

    monkeypatch.setattr(module.secrets, "randbelow", below)
    assert SecureSampler().index(np.array(weights)) == index


def test_the_secret_and_the_noise_do_not_come_from_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    np.random.seed(7)  # noqa: NPY002 - the global generator must not matter
    before = np.random.get_state(legacy=False)  # noqa: NPY002
    sampler = SecureSampler()
    first = sampler.noise(8), [sampler.index(np.full(1024, 1 / 1024)) for _ in range(8)]
    after = np.random.get_state(legacy=False)  # noqa: NPY002
    assert before["state"]["pos"] == after["state"]["pos"]
    assert np.array_equal(before["state"]["key"], after["state"]["key"])
    np.random.seed(7)  # noqa: NPY002
    second = sampler.noise(8), [sampler.index(np.full(1024, 1 / 1024)) for _ in range(8)]
    # Equal by chance below (2**20)**-8 and 1024**-8.
    assert not np.array_equal(first[0], second[0])
    assert first[1] != second[1]


def test_two_samplers_and_two_processes_have_streams_of_their_own(noise: np.ndarray) -> None:
    program = (
        "import numpy as np; np.random.seed(0)\n"
        "from pacsklearn.kernel.noise.sampler import SecureSampler\n"
        "s = SecureSampler(); print([*s.noise(4), *(s.index(np.full(64, 1/64)) for _ in range(8))])"
    )
    outputs = {
        subprocess.run(  # noqa: S603
            [sys.executable, "-c", program], check=True, capture_output=True, text=True
        ).stdout
        for _ in range(2)
    }
    assert len(outputs) == 2
    assert not np.array_equal(SecureSampler().noise(4), SecureSampler().noise(4))


def test_seeded_noise_is_reproducible_and_says_that_it_is_not_secure() -> None:
    first, again, other = seeded(), seeded(), seeded(1)
    weights = np.array([0.5, 0.3, 0.2])
    assert [first.index(weights) for _ in range(9)] == [again.index(weights) for _ in range(9)]
    one = first.noise(1000)
    assert np.array_equal(one, again.noise(1000))
    assert not np.array_equal(one, other.noise(1000))
    assert one.dtype == np.int64
    assert one.std() == pytest.approx(LATTICE_SCALE, rel=0.1)
    assert not SeededSampler.is_secure
    assert SecureSampler.is_secure


@pytest.mark.parametrize("sampler", [SecureSampler(), seeded()])
def test_no_noise_when_none_is_asked_for(sampler: Sampler) -> None:
    assert sampler.noise(0).shape == (0,)
    assert sampler.noise(0).dtype == np.int64
    assert sampler.noise(1).shape == (1,)
