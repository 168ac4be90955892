"""From variances to integers: the bound holds for what is released."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from pacsklearn.kernel.bounds.lattice_bound import linear_bound, logdet_allocation, logdet_bound
from pacsklearn.kernel.noise.lattice import Bound, exact_law, lattice_centres, lattice_law, opened
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric

Calibrate = Callable[..., NoiseLaw]
BACKENDS = ["isotropic", "diagonal", "eigen", "logdet"]


def law_of(
    outputs: np.ndarray, variances: np.ndarray, budget: float, bound: Bound = linear_bound
) -> NoiseLaw:
    support = Support(outputs)
    return lattice_law(
        support,
        Target(budget),
        coordinates=support.deviations,
        axes=np.eye(outputs.shape[1]),
        variances=variances,
        bound=bound,
        proof="test",
        backend="test",
        noise_power=float(variances.sum()),
        released_power=float(variances.sum()),
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("budget", [1e-9, 1 / 64, 0.5])
def test_the_bound_is_evaluated_on_the_integers(
    calibrate: Calibrate, generator: np.random.Generator, backend: str, budget: float
) -> None:
    law = calibrate(backend, generator.normal(size=(12, 5)), budget)
    evaluate = logdet_bound if backend == "logdet" else linear_bound
    assert law.bound == evaluate(law.centres, np.full(12, 1 / 12), LATTICE_SCALE)


@pytest.mark.parametrize("share", [1.0, 0.5, 1e-3])
def test_too_little_noise_is_enlarged_until_the_bound_is_met(
    generator: np.random.Generator, share: float
) -> None:
    outputs = generator.normal(size=(6, 2))
    enough = np.full(2, outputs.var(axis=0).sum() / 0.2)
    law = law_of(outputs, enough * share, 0.1)
    assert law.bound <= 0.1
    assert law.noise_power == pytest.approx(enough.sum(), rel=1e-4)
    assert (law.step * LATTICE_SCALE) ** 2 == pytest.approx(enough, rel=1e-4)


def test_centres_are_the_nearest_integers(generator: np.random.Generator) -> None:
    outputs = generator.normal(size=(6, 2))
    law = law_of(outputs, np.array([100.0, 1e4]), 0.1)
    assert np.abs(law.centres * law.step + law.origin - outputs).max(axis=0) == pytest.approx(
        law.step / 2, rel=0.6
    )


def test_a_budget_below_the_resolution_hides_everything(
    calibrate: Calibrate, generator: np.random.Generator
) -> None:
    law = calibrate("logdet", generator.normal(size=(128, 127)), 1e-13)
    assert law.bound <= 1e-13
    assert not np.ptp(law.centres, axis=0).any()


def test_a_bound_that_no_noise_meets_is_refused(generator: np.random.Generator) -> None:
    with pytest.raises(ValueError, match="lattice"):
        law_of(generator.normal(size=(6, 2)), np.ones(2), 1e-12, lambda *_: 1e-11)


def test_outputs_whose_variance_underflows_are_noised_as_any_others(calibrate: Calibrate) -> None:
    law = calibrate("eigen", [[0.0], [1e-200]], 0.1)
    assert 0.09 < law.bound <= 0.1
    assert law.decode(law.centres[1]) == pytest.approx([1e-200], rel=1e-5)


def test_without_noise_outputs_of_any_size_come_back(generator: np.random.Generator) -> None:
    outputs = generator.normal(size=(5, 3)) * [1e-9, 1.0, 1e9]
    support = Support(outputs)
    law = exact_law(support, support.deviations, np.eye(3), "test")
    for i, output in enumerate(outputs):
        assert law.decode(law.observe(i, np.zeros(3, dtype=np.int64))) == pytest.approx(
            output, rel=1e-10, abs=0
        )


@pytest.mark.parametrize("far", [1.0, 2.0**30])
def test_without_noise_a_spread_has_2_to_the_40_steps(far: float) -> None:
    """Unless a candidate of no weight is so far away that a double would not hold it."""
    coordinates = np.array([[3.0, -1e-6], [-3.0, 1e-6], [3.0 * far, 1e-6 * far]])
    law = exact_law(Support(coordinates, np.array([0.5, 0.5, 0.0])), coordinates, np.eye(2), "b")
    steps = np.array([3.0, 1e-6]) * max(2.0**-40, far * 2.0**-51)
    np.testing.assert_allclose(law.step, steps, rtol=1e-15)
    np.testing.assert_array_equal(law.centres, np.rint(coordinates / law.step))
    assert law.scale == 0


@pytest.mark.parametrize("share", [1.0, 1 - 1e-9])
def test_a_budget_of_all_that_is_unknown_needs_no_noise(share: float) -> None:
    support = Support(np.array([[0.0], [1.0], [5.0]]))
    span = support.span(IdentityMetric())
    axes, law = opened(support, Target(support.entropy * share), span, "b")
    np.testing.assert_array_equal(axes, span.mixing @ support.deviations)
    assert (law is None) is (share < 1)
    constant = Support(np.ones((3, 1)))
    _, law = opened(constant, Target(1e-9), constant.span(IdentityMetric()), "b")
    assert law is not None
    assert law.bound == 0.0


def test_noise_grows_by_what_is_missing_and_a_hair_that_doubles() -> None:
    met = iter([0.2, 0.11, 0.1 + 1e-9, 0.1])
    law = law_of(np.eye(3), np.array([4.0, 1.0, 1.0]), 0.1, lambda *_: next(met))
    factor = 2.0 * (1 + 1e-12) * 1.1 * (1 + 2e-12) * (1 + 1e-8) * (1 + 4e-12)
    assert law.noise_power == pytest.approx(6 * factor, rel=2e-15, abs=0)
    assert law.released_power == pytest.approx(6 * factor, rel=2e-15, abs=0)
    np.testing.assert_allclose(
        law.step, np.sqrt(factor * np.array([4.0, 1.0, 1.0])) / LATTICE_SCALE, rtol=1e-14
    )
    assert law.bound == 0.1


@pytest.mark.parametrize(("missing", "refused"), [(1.01e6, True), (0.99e6, False)])
def test_noise_grows_a_millionfold_at_most(missing: float, refused: bool) -> None:
    met = iter([0.1 * missing, 0.1])
    make = partial(law_of, np.eye(2), np.ones(2), 0.1, lambda *_: next(met))
    if refused:
        with pytest.raises(ValueError, match="lattice"):
            make()
    else:
        assert make().noise_power == pytest.approx(2 * missing)


@pytest.mark.parametrize("size", [0.0, 5e-324, 1e300, -1e300])
def test_a_grid_has_steps_and_fits_into_its_integers(size: float) -> None:
    coordinates, step = np.array([[size], [1.0]]), np.array([abs(size) / 4])
    if not step > 0:
        with pytest.raises(ValueError, match="close"):
            lattice_centres(coordinates, step, "b")
        return
    centres = lattice_centres(np.array([[size], [1.0], [-1.0]]), np.array([1.0]), "b")
    assert centres[:, 0].tolist() == [int(np.sign(size)) * 2**60, 1, -1]


def test_a_candidate_out_of_reach_is_put_at_the_edge() -> None:
    outputs = np.array([[0.0], [1.0], [1e30]])
    support = Support(outputs, np.array([1.0, 1.0, 0.0]))
    law = lattice_law(
        support,
        Target(0.1),
        coordinates=support.deviations,
        axes=np.eye(1),
        variances=np.array([1.25]),
        bound=linear_bound,
        proof="test",
        backend="test",
        noise_power=1.25,
        released_power=1.25,
    )
    assert law.centres[2, 0] == 2**60
    assert law.bound <= 0.1


Floats = NDArray[np.float64]

CASES = [
    np.array([1.0]),
    np.array([4.0, 1.0]),
    np.array([1e3, 1.0, 1e-3]),
    np.array([5.0, 5.0, 5.0, 1e-8]),
    np.array([3.0, 2.0, 1.0]),
]


@pytest.mark.parametrize("variances", CASES)
@pytest.mark.parametrize("budget", [1e-9, 1e-3, 1 / 64, 1.0, 5.0, 50.0])
def test_lagrange_conditions(variances: Floats, budget: float) -> None:
    noise = logdet_allocation(variances, budget)
    assert np.all(noise > 0)
    assert 0.5 * np.log1p(variances / noise).sum() == pytest.approx(budget, rel=1e-9)
    # d(cost)/de = 1 = multiplier * v / (2 e (e + v)): one multiplier for all.
    multipliers = noise * (noise + variances) / variances
    assert multipliers == pytest.approx(np.full(variances.size, multipliers[0]), rel=1e-6)


@pytest.mark.parametrize("variances", CASES[1:])
@pytest.mark.parametrize("budget", [1 / 64, 0.5, 3.0])
def test_no_other_noise_is_cheaper(variances: Floats, budget: float) -> None:
    ours = logdet_allocation(variances, budget)
    total = ours.sum()
    found = minimize(
        lambda log_noise: np.exp(log_noise).sum() / total,
        np.log(ours.mean()) * np.ones(variances.size),
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda log_noise: budget - 0.5 * np.log1p(variances * np.exp(-log_noise)).sum(),
        },
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert found.fun >= 1 - 1e-6


@pytest.mark.parametrize("factor", [1e-200, 1e-12, 7.0, 1e12, 1e200])
def test_scale(factor: float) -> None:
    variances = np.array([4.0, 1.0, 0.3])
    assert logdet_allocation(variances * factor, 0.1) == pytest.approx(
        logdet_allocation(variances, 0.1) * factor, rel=1e-12
    )


def test_many_coordinates_of_very_different_size() -> None:
    variances = np.logspace(0, -14, 127)
    noise = logdet_allocation(variances, 1 / 64)
    assert 0.5 * np.log1p(variances / noise).sum() == pytest.approx(1 / 64, rel=1e-12)
    assert np.all(np.diff(noise) < 0)


# The lattice moves a power by at most this share at the budgets used here.
LATTICE = 1e-4


def expected_noise(backend: str, outputs: Floats, budget: float) -> Floats:
    """Noise covariance (d, d) by the formulas, d x d matrices and all."""
    covariance = np.atleast_2d(np.cov(outputs.T, bias=True))
    if backend == "isotropic":
        return np.eye(len(covariance)) * np.trace(covariance) / (2 * budget)
    if backend == "diagonal":
        deviation = np.sqrt(np.diag(covariance))
        return np.diag(deviation * deviation.sum() / (2 * budget))
    values, vectors = np.linalg.eigh(covariance)
    if backend == "eigen":
        noise = np.sqrt(values) * np.sqrt(values).sum() / (2 * budget)
        return (vectors * noise) @ vectors.T
    return (vectors * logdet_by_bisection(values, budget)) @ vectors.T


def logdet_by_bisection(values: Floats, budget: float) -> Floats:
    low, high = 1e-30, 1e30
    for _ in range(400):
        t = np.sqrt(low * high)
        noise = (np.sqrt(values**2 + 2 * t * values) - values) / 2
        if 0.5 * np.log1p(values / noise).sum() > budget:
            low = t
        else:
            high = t
    return noise


def noise_of(law: NoiseLaw) -> Floats:
    scaled = law.axes * (law.step * law.scale)[:, None]
    return scaled.T @ scaled


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("budget", [1e-4, 1 / 64, 0.3])
def test_one_coordinate_of_two_candidates(
    calibrate: Calibrate, backend: str, budget: float
) -> None:
    # Outputs 1 and 5: variance 4.
    law = calibrate(backend, [[1.0], [5.0]], budget)
    expected = 4 / np.expm1(2 * budget) if backend == "logdet" else 4 / (2 * budget)
    assert law.noise_power == pytest.approx(expected, rel=LATTICE)
    assert law.released_power == pytest.approx(expected, rel=LATTICE)
    assert law.origin.tolist() == [3.0]


def test_two_uncorrelated_coordinates(calibrate: Calibrate) -> None:
    # Variances 9 and 1, budget 1/2: 10 each; sqrt(v) (3 + 1) for the shaped ones.
    outputs = np.array([[3, 1], [3, -1], [-3, 1], [-3, -1]])
    assert noise_of(calibrate("isotropic", outputs, 0.5)) == pytest.approx(
        np.diag([10.0, 10.0]), rel=LATTICE, abs=1e-3
    )
    for backend in ("diagonal", "eigen"):
        assert noise_of(calibrate(backend, outputs, 0.5)) == pytest.approx(
            np.diag([12.0, 4.0]), rel=LATTICE, abs=1e-3
        )


def test_two_correlated_coordinates_gain_from_their_own_axes(calibrate: Calibrate) -> None:
    # Outputs on a line of slope one: variance 2 along it, none across.
    outputs = np.array([[1.0, 1.0], [-1.0, -1.0]])
    powers = {backend: calibrate(backend, outputs, 0.25).noise_power for backend in BACKENDS}
    assert powers["isotropic"] == pytest.approx(8, rel=LATTICE)
    assert powers["diagonal"] == pytest.approx(8, rel=LATTICE)
    assert powers["eigen"] == pytest.approx(4, rel=LATTICE)
    assert powers["logdet"] == pytest.approx(2 / np.expm1(0.5), rel=LATTICE)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("budget", [1 / 256, 1.0])
def test_full_covariance_of_the_noise(
    calibrate: Calibrate, generator: np.random.Generator, backend: str, budget: float
) -> None:
    outputs = generator.normal(size=(24, 4)) @ generator.normal(size=(4, 4))
    expected = expected_noise(backend, outputs, budget)
    law = calibrate(backend, outputs, budget)
    assert noise_of(law) == pytest.approx(expected, rel=1e-3, abs=1e-3 * np.trace(expected))
    assert law.noise_power == pytest.approx(np.trace(expected), rel=LATTICE)


@pytest.mark.parametrize("backend", BACKENDS)
def test_leaving_out_noise_outside_the_span_gives_nothing_away(
    calibrate: Calibrate, generator: np.random.Generator, backend: str
) -> None:
    # What an adversary can tell is the distance of two candidates in units of the noise. It must
    # be that under the full formula, although only three of the six directions get noise.
    outputs = generator.normal(size=(4, 6)) * [1, 2, 3, 4, 5, 6]
    shaped = backend in ("eigen", "logdet")
    noise = (expected_on_span if shaped else expected_noise)(backend, outputs, 0.1)
    difference = outputs - outputs[0]
    squared = np.einsum("ij,jk,ik->i", difference, np.linalg.pinv(noise), difference)
    law = calibrate(backend, outputs, 0.1)
    assert law.dimension == 3
    steps = (law.centres - law.centres[0]) / law.scale
    assert np.sum(steps**2, axis=1) == pytest.approx(squared, rel=1e-3)
    assert law.released_power <= law.noise_power * (1 + 1e-12)


def expected_on_span(backend: str, outputs: Floats, budget: float) -> Floats:
    """As :func:`expected_noise`, zero outside the span."""
    centred = outputs - outputs.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][: len(outputs) - 1]
    return axes.T @ expected_noise(backend, centred @ axes.T, budget) @ axes


@pytest.mark.parametrize("backend", BACKENDS)
def test_weights_are_the_adversarys_belief(calibrate: Calibrate, backend: str) -> None:
    # Weight 3 on one candidate is the same as three copies of it.
    outputs = np.array([[0.0, 1.0], [2.0, 0.0], [5.0, 5.0]])
    weighted = calibrate(backend, outputs, 0.1, weights=[3, 1, 2])
    copied = calibrate(backend, np.repeat(outputs, [3, 1, 2], axis=0), 0.1)
    assert weighted.noise_power == pytest.approx(copied.noise_power, rel=LATTICE)
    assert weighted.origin == pytest.approx(copied.origin)


@pytest.mark.parametrize("backend", BACKENDS)
def test_released_power_is_that_of_the_noise_in_the_metric(
    calibrate: Calibrate, generator: np.random.Generator, backend: str
) -> None:
    outputs = generator.normal(size=(6, 9))
    root = generator.normal(size=(9, 9))
    metric = root.T @ root
    law = calibrate(backend, outputs, 0.1, metric)
    assert law.released_power == pytest.approx(np.trace(metric @ noise_of(law)), rel=1e-9)
    assert law.released_power <= law.noise_power * (1 + 1e-12)
