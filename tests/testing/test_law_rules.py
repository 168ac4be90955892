"""The measured information against values computed by numerical integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, NoiseLaw
from pacsklearn.testing.law_rules import measured_information


def law_of(centres):
    centres = np.rint(np.atleast_2d(centres) * LATTICE_SCALE).astype(np.int64)
    k = centres.shape[1]
    return NoiseLaw(
        centres=centres,
        step=np.ones(k),
        axes=np.eye(k),
        origin=np.zeros(k),
        scale=LATTICE_SCALE,
        bound=0.0,
        proof="none",
        backend="none",
        noise_power=1.0,
        released_power=1.0,
    )


def exact(distance, share):
    """Mutual information of two points at this distance in standard deviations."""

    def density(x, centre):
        return np.exp(-((x - centre) ** 2) / 2) / np.sqrt(2 * np.pi)

    def gain(x):
        first, second = density(x, 0.0), density(x, distance)
        mixture = share * first + (1 - share) * second
        return share * first * np.log(first / mixture) + (1 - share) * second * np.log(
            second / mixture
        )

    return quad(gain, -8, distance + 8, epsabs=1e-12)[0]


@pytest.mark.parametrize("distance", [0.01, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_two_points(distance, share):
    measured = measured_information(
        law_of([[0.0], [distance]]),
        np.array([share, 1 - share]),
        np.random.default_rng(0),
        n_draws=40_000,
    )
    expected = exact(distance, share)
    # Five standard errors: a false alarm in 10**6.
    assert abs(measured.nats - expected) <= 5 * measured.standard_error
    assert measured.standard_error <= 0.03 * expected


def test_impossible_candidates_do_not_count():
    measured = measured_information(
        law_of([[0.0], [0.0], [50.0]]), np.array([0.5, 0.5, 0.0]), np.random.default_rng(0)
    )
    assert measured.nats == pytest.approx(0.0, abs=1e-12)


def test_points_far_apart_tell_everything():
    measured = measured_information(
        law_of([[0.0], [50.0]]), np.array([0.25, 0.75]), np.random.default_rng(0)
    )
    assert measured.nats == pytest.approx(-0.25 * np.log(0.25) - 0.75 * np.log(0.75))
