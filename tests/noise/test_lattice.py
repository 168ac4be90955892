"""From variances to integers: the bound holds for what is released."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from pacsklearn.core.metric import IdentityMetric
from pacsklearn.core.noise_law import LATTICE_SCALE, NoiseLaw
from pacsklearn.core.support import Support
from pacsklearn.core.target import Target
from pacsklearn.information.lattice_bound import linear_bound, logdet_bound
from pacsklearn.noise.lattice import Bound, exact_law, lattice_centres, lattice_law, opened

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
    with pytest.raises(ValueError, match=r"too small for the integer lattice .* at least 1e-10"):
        law_of(generator.normal(size=(6, 2)), np.ones(2), 1e-12, lambda *_: 1e-11)


def test_outputs_whose_variance_underflows_are_refused(calibrate: Calibrate) -> None:
    with pytest.raises(ValueError, match="variance is below the smallest number"):
        calibrate("eigen", [[0.0], [1e-200]], 0.1)


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
        with pytest.raises(ValueError, match="too small for the integer lattice"):
            make()
    else:
        assert make().noise_power == pytest.approx(2 * missing)


@pytest.mark.parametrize("size", [0.0, 5e-324, 1e300, -1e300])
def test_a_grid_has_steps_and_fits_into_its_integers(size: float) -> None:
    coordinates, step = np.array([[size], [1.0]]), np.array([abs(size) / 4])
    if not step > 0:
        with pytest.raises(ValueError, match="too close together for the 'b' backend"):
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
