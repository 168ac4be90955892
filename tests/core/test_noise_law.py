"""What a law releases, how it is read, and what an adversary learns from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from pacsklearn.core.noise_law import LATTICE_SCALE, NoiseLaw


def make_law(scale: int = LATTICE_SCALE, **changes: Any) -> NoiseLaw:
    facts: dict[str, Any] = {
        "centres": np.array([[0, 5], [2**21, -7], [-(2**20), 2**22]]),
        "step": np.array([0.5, 1e-6]),
        "axes": np.array([[1.0, 0.0, 2.0], [0.0, 3.0, -1.0]]),
        "origin": np.array([10.0, 20.0, 30.0]),
        "scale": scale,
        "bound": 0.1,
        "proof": "none",
        "backend": "test",
        "noise_power": 1.0,
        "released_power": 1.0,
    }
    return NoiseLaw(**facts | changes)


def test_the_release_is_the_centre_plus_the_noise() -> None:
    law = make_law()
    noise = np.array([-3, 4])
    assert law.observe(1, noise).tolist() == [2**21 - 3, -3]
    assert law.observe(1, noise).dtype == np.int64


def test_decode_is_the_affine_map_of_the_integers() -> None:
    law = make_law()
    assert law.decode(np.zeros(2, dtype=np.int64)).tolist() == [10.0, 20.0, 30.0]
    assert law.decode(np.array([4, 10**6])) == pytest.approx([12.0, 23.0, 33.0])


def test_log_likelihood_is_that_of_the_discrete_gaussian() -> None:
    # Brute force: p(w | i) = prod_j exp(-(w_j - z_ij)^2 / (2 sigma^2)) / Z, Z the same for all.
    law = make_law()
    observed = np.array([12_345, -2_000_000])
    direct = [
        -sum((int(w) - int(z)) ** 2 for w, z in zip(observed, row, strict=True))
        / (2 * LATTICE_SCALE**2)
        for row in law.centres
    ]
    assert law.log_likelihood(observed) == pytest.approx(direct, rel=1e-14)


def test_posterior_is_bayes_rule_even_far_out() -> None:
    law = make_law(centres=np.array([[2**50], [2**50 + 3 * 2**20]]), axes=np.ones((1, 1)))
    likelihood = law.log_likelihood(np.array([2**50 + 2**20]))
    posterior = likelihood - logsumexp(likelihood)
    assert posterior[0] - posterior[1] == pytest.approx((4 - 1) / 2, rel=1e-12)


def test_without_noise_the_output_names_the_candidates_that_have_it() -> None:
    law = make_law(0, centres=np.array([[1, 2], [1, 3], [1, 2]]))
    assert law.is_noiseless
    assert law.log_likelihood(np.array([1, 2])).tolist() == [0.0, -np.inf, 0.0]


def test_without_coordinates_nothing_is_learnt() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    empty = np.zeros((3, 0), dtype=np.int64)
    law = make_law(0, centres=empty, step=np.ones(0), axes=np.ones((0, 3)))
    assert law.dimension == 0
    assert law.decode(nothing).tolist() == [10.0, 20.0, 30.0]
    assert law.log_likelihood(nothing).tolist() == [0.0, 0.0, 0.0]


def test_centres_and_axes_are_not_in_the_repr() -> None:
    assert not any(name in repr(make_law()) for name in ("centres", "axes", "origin", "step"))
