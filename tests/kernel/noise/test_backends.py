"""What holds for every backend on any support."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacsklearn import Nats, PrivacySession
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, NoiseLaw
from pacsklearn.plugins import NoiseBackend

Floats = NDArray[np.float64]
Calibrate = Callable[..., NoiseLaw]

BACKENDS = ["isotropic", "diagonal", "eigen", "logdet"]
# At tiny budgets candidates are a few lattice steps apart, and rounding moves the power.
ROUNDING = 1e-2
few = settings(
    max_examples=25,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@st.composite
def outputs(draw: Any) -> Floats:
    """Any support: more or fewer outputs than candidates, of any size, some flat or equal."""
    m, d, rank = draw(st.integers(2, 9)), draw(st.integers(1, 12)), draw(st.integers(1, 12))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = 10.0 ** generator.uniform(-3, 3, min(rank, d))
    points = generator.normal(size=(m, sizes.size)) * sizes @ generator.normal(size=(sizes.size, d))
    points[:, generator.random(d) < 0.2] = 0.1
    return points + generator.normal(size=d) * 10


def power(calibrate: Calibrate, *args: Any, **kwargs: Any) -> float:
    return calibrate(*args, **kwargs).noise_power


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("budget", [1e-9, 1e-6, 1 / 256, 1 / 16, 0.5, 2.0, 4.8])
@pytest.mark.parametrize(("m", "d"), [(128, 3), (128, 200)])
def test_the_bound_is_met_and_not_wasted(
    calibrate: Calibrate,
    generator: np.random.Generator,
    backend: str,
    budget: float,
    m: int,
    d: int,
) -> None:
    points = generator.normal(size=(m, d)) * np.logspace(0, -4, d)
    law = calibrate(backend, points, budget)
    assert law.bound <= budget
    assert law.bound >= budget * (1 - ROUNDING)
    assert law.scale == LATTICE_SCALE
    assert law.centres.dtype == np.int64
    assert law.dimension == min(m - 1, d)
    assert law.confidence == 1.0


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("weights", [[1, 1, 1, 1], [7, 1, 1, 3], [1, 1, 0, 0]])
def test_a_budget_that_covers_the_secret_needs_no_noise(
    calibrate: Calibrate, generator: np.random.Generator, backend: str, weights: list[int]
) -> None:
    points = generator.normal(size=(4, 3)) + 5
    share = np.array(weights) / sum(weights)
    entropy = -np.sum(share[share > 0] * np.log(share[share > 0]))
    for budget in (entropy * (1 + 1e-12), 50.0):
        law = calibrate(backend, points, budget, weights=weights)
        assert law.is_noiseless
        assert law.noise_power == law.released_power == 0.0
        assert law.bound == pytest.approx(entropy, rel=1e-12)
        silence = np.zeros(law.dimension, dtype=np.int64)
        for i in np.flatnonzero(share):
            assert law.decode(law.observe(i, silence)) == pytest.approx(points[i], rel=1e-12)
    assert not calibrate(backend, points, entropy * 0.999, weights=weights).is_noiseless


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("budget", [1e-9, 0.1, 9.0])
def test_equal_outputs_cost_nothing(calibrate: Calibrate, backend: str, budget: float) -> None:
    law = calibrate(backend, np.tile([0.1, -7.0], (5, 1)), budget)
    assert (law.dimension, law.bound, law.noise_power) == (0, 0.0, 0.0)
    assert law.is_noiseless
    assert law.decode(np.zeros(0, dtype=np.int64)).tolist() == [0.1, -7.0]


@few
@given(points=outputs(), budget=st.sampled_from([1e-6, 1 / 64, 0.3]))
def test_powers_are_ordered(calibrate: Calibrate, points: Floats, budget: float) -> None:
    powers = [power(calibrate, backend, points, budget) for backend in BACKENDS]
    for larger, smaller in pairwise(powers):
        assert smaller <= larger * (1 + ROUNDING)


@few
@given(points=outputs(), backend=st.sampled_from(BACKENDS), exponent=st.integers(-30, 30))
def test_power_scales_with_the_square(
    calibrate: Calibrate, points: Floats, backend: str, exponent: int
) -> None:
    # Powers of two: rounding scales too, so the laws agree exactly.
    factor = 2.0**exponent
    plain, scaled = (calibrate(backend, points * f, 1 / 16) for f in (1.0, factor))
    assert scaled.noise_power == pytest.approx(plain.noise_power * factor**2, rel=1e-9)
    assert np.array_equal(scaled.centres, plain.centres)


@few
@given(points=outputs(), backend=st.sampled_from(BACKENDS), seed=st.integers(0, 999))
def test_order_of_outputs_and_of_candidates_does_not_matter(
    calibrate: Calibrate, points: Floats, backend: str, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    columns = generator.permutation(points.shape[1])
    shuffled = points[generator.permutation(len(points))][:, columns]
    assert power(calibrate, backend, shuffled, 1 / 16) == pytest.approx(
        power(calibrate, backend, points, 1 / 16), rel=1e-3
    )


@few
@given(points=outputs(), backend=st.sampled_from(["eigen", "logdet"]), seed=st.integers(0, 999))
def test_rotations_do_not_matter(
    calibrate: Calibrate, points: Floats, backend: str, seed: int
) -> None:
    d = points.shape[1]
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
    assert power(calibrate, backend, points @ turn, 1 / 16) == pytest.approx(
        power(calibrate, backend, points, 1 / 16), rel=1e-3
    )


@few
@given(points=outputs(), backend=st.sampled_from(BACKENDS))
def test_shifts_do_not_matter(calibrate: Calibrate, points: Floats, backend: str) -> None:
    assert power(calibrate, backend, points + 3.0, 1 / 16) == pytest.approx(
        power(calibrate, backend, points, 1 / 16), rel=1e-3
    )


@few
@given(points=outputs(), backend=st.sampled_from(BACKENDS))
def test_more_budget_is_less_noise(calibrate: Calibrate, points: Floats, backend: str) -> None:
    powers = [power(calibrate, backend, points, budget) for budget in (1e-6, 1e-3, 0.1, 0.4, 20.0)]
    if powers[0] > 0:
        assert all(later < earlier for earlier, later in pairwise(powers))
        assert powers[-1] == 0.0


@few
@given(points=outputs(), backend=st.sampled_from(["eigen", "logdet"]), seed=st.integers(0, 999))
def test_a_metric_makes_its_own_cost_smaller(
    calibrate: Calibrate, points: Floats, backend: str, seed: int
) -> None:
    d = points.shape[1]
    generator = np.random.default_rng(seed)
    root = generator.normal(size=(d, d)) * 10.0 ** generator.uniform(-1, 1, d)
    metric = root.T @ root
    shaped, plain = (calibrate(backend, points, 1 / 16, m) for m in (metric, None))
    assert weighted_power(shaped, metric) <= weighted_power(plain, metric) * (1 + 1e-3)
    assert shaped.bound <= 1 / 16


@few
@given(points=outputs(), seed=st.integers(0, 999))
def test_a_diagonal_metric_makes_diagonal_noise_cheaper(
    calibrate: Calibrate, points: Floats, seed: int
) -> None:
    weights = 10.0 ** np.random.default_rng(seed).uniform(-2, 2, points.shape[1])
    shaped = calibrate("diagonal", points, 1 / 16, weights)
    variances = np.var(points, axis=0)
    plain = np.sum(weights * np.sqrt(variances)) * np.sum(np.sqrt(variances)) * 8
    assert shaped.noise_power <= plain * (1 + 1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_metric_of_rank_one_leaves_one_noisy_coordinate(
    calibrate: Calibrate, generator: np.random.Generator, backend: str
) -> None:
    direction = generator.normal(size=4)
    law = calibrate(backend, generator.normal(size=(9, 4)), 0.1, np.outer(direction, direction))
    assert law.dimension == 1
    assert law.bound <= 0.1


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_belief_that_has_nearly_decided_is_no_obstacle(
    calibrate: Calibrate, generator: np.random.Generator, backend: str
) -> None:
    # Sessions get there: candidates all but ruled out lie billions of noise scales away.
    points = generator.normal(size=(16, 3))
    for weights in (np.exp(-np.arange(16) * 53.0), np.append([1.0, 1e-12], np.zeros(14))):
        for budget in (1e-11, 1e-9, 1e-3, 0.4):
            law = calibrate(backend, points, budget, weights=weights)
            assert 0 <= law.bound <= budget
            silence = np.zeros(law.dimension, dtype=np.int64)
            if law.is_noiseless:
                assert law.decode(law.observe(0, silence)) == pytest.approx(points[0], abs=1e-9)
            far = law.observe(15, silence + 2**24)
            assert np.all(np.abs(far) <= 2**60 + 2**24)
            assert np.all(law.log_likelihood(law.centres[0]) <= 0)


@pytest.mark.product(only=1)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_hundred_thousand_outputs(
    calibrate: Calibrate, generator: np.random.Generator, backend: str
) -> None:
    points = generator.normal(size=(32, 100_000))
    tracemalloc.start()
    try:
        law = calibrate(backend, points, 1 / 16)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert law.dimension == 31
    assert peak < 12 * points.nbytes  # 310 MB; d x d would be 80 GB


def weighted_power(law: NoiseLaw, metric: Floats) -> float:
    scaled = law.axes * (law.step * law.scale)[:, None]
    return float(np.einsum("ki,ij,kj->", scaled, metric, scaled))


WRONG = {
    "none at all": lambda law: None,
    "fractions": lambda law: replace(law, centres=law.centres + 0.25),
    "whole doubles": lambda law: replace(law, centres=law.centres.astype(float)),
    "wrapped around": lambda law: replace(law, centres=law.centres.astype(np.uint64)),
    "fewer candidates": lambda law: replace(law, centres=law.centres[:5]),
    "one for all": lambda law: replace(law, centres=law.centres[:1]),
    "more numbers": lambda law: replace(law, centres=np.hstack([law.centres, law.centres])),
    "another scale": lambda law: replace(law, scale=1),
    "no noise, little told": lambda law: replace(law, scale=0),
    "nothing told": lambda law: replace(law, bound=0.0),
    "nan told": lambda law: replace(law, bound=np.nan),
    "more than was asked": lambda law: replace(law, bound=1.5),
    "more than certain": lambda law: replace(law, confidence=2.0),
    "nowhere": lambda law: replace(law, origin=law.origin * np.nan),
    "axes of one output": lambda law: replace(law, axes=law.axes[:, :1]),
    "one step for all": lambda law: replace(law, step=law.step[0]),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_law_that_cannot_be_drawn_from_is_refused_whatever_the_secret(wrong: str) -> None:
    class Outside(NoiseBackend):
        name = "outside"

        def calibrate(self, support: Any, target: Any, metric: Any) -> Any:
            return WRONG[wrong](LogdetBackend().calibrate(support, target, metric))

    ledger = MemoryLedger(2.0)
    inputs = [np.array([i, i**2, i**3]) for i in range(10)]
    with PrivacySession.over(inputs, budget=Nats(2), ledger=ledger) as session:
        with pytest.raises(TypeError, match="check_noise_backend"):
            session.release_function(lambda one: one, budget=0.25, noise=Outside())
        session.release_function(lambda one: one, budget=0.25)
    assert len(ledger.events) == 1


class Keeping(NoiseBackend):
    name = "keeping"

    def calibrate(self, support: Any, target: Any, metric: Any) -> Any:
        self.kept = getattr(self, "kept", support)
        return LogdetBackend().calibrate(self.kept, target, metric)


def test_what_a_backend_keeps_of_the_outputs_reaches_no_other_release() -> None:
    backend = Keeping()
    with PrivacySession.over([0.0, 1.0, 2.0, 3.0], budget=Nats(1)) as session:
        first = session.release_function(lambda one: one, budget=0.25, noise=backend)
        second = session.release_function(lambda one: 1e6 * one, budget=0.25, noise=backend)
    assert second.noise_power > 1e10 * first.noise_power
    assert not vars(backend)
