"""Attempts to meet a cap: what each may fail with, and how much noise the next one has."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pacsklearn.kernel.bounds.mixture import GaussianMixture
from pacsklearn.kernel.bounds.noise_shape import NoiseShape
from pacsklearn.kernel.noise.certified import Certificate, certified_law
from pacsklearn.kernel.noise.lattice import generator_for, lattice_slack
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, NoiseLaw, Support

SUPPORT = Support(np.random.default_rng(0).standard_normal((8, 3)))
SHAPE = NoiseShape(np.eye(3), np.array([2.0, 1.0, 0.5]))


def law_of(figure: Callable[..., float], **options: float) -> NoiseLaw | None:
    certificate = Certificate(figure, cap=1.0, gamma=0.01, proof="p", backend="b", **options)
    return certified_law(SUPPORT, SUPPORT.outputs - SUPPORT.mean, np.eye(3), SHAPE, certificate)


@pytest.mark.parametrize(("floor", "order"), [(0.0, 1.0), (0.5, 1.0), (0.0, 2.0)])
def test_noise_grows_by_what_is_missing(floor: float, order: float) -> None:
    """By the figure's excess over its floor, at least 0.2 % and at most four times an attempt."""
    figures = [floor + 1.5 * (1 - floor), floor + 9 * (1 - floor), 1.0 + 1e-6, 1.0]
    seen: list[tuple[float, int]] = []

    def figure(mixture: GaussianMixture, gamma: float, generator: np.random.Generator) -> float:
        seen.append((gamma, int(generator.integers(2**62))))
        return figures[len(seen) - 1]

    law = law_of(figure, floor=floor, order=order)
    assert law is not None
    factor = 1.5**order * (4.0**order * 1.005) * (1.002**order * 1.005**2)
    assert law.noise_power == pytest.approx(factor * 3.5, rel=1e-12)
    np.testing.assert_allclose(law.step, np.sqrt(factor * SHAPE.variances) / LATTICE_SCALE)
    assert (law.bound, law.confidence) == (1.0, 0.99)
    # Parts of gamma whose sum is below it, and draws of its own for each.
    assert [gamma for gamma, _ in seen] == [0.005, 0.0025, 0.00125, 0.000625]
    assert len({draw for _, draw in seen}) == 4


def test_a_cap_that_is_never_met_gives_no_law() -> None:
    assert law_of(lambda *_: np.nextafter(1.0, 2.0)) is None
    assert law_of(lambda *_: 1.0) is not None


def test_the_figure_is_that_of_the_integers_which_are_released() -> None:
    def figure(mixture: GaussianMixture, gamma: float, generator: np.random.Generator) -> float:
        mixtures.append(mixture)
        return 0.5

    mixtures: list[GaussianMixture] = []
    law = law_of(figure)
    assert law is not None
    np.testing.assert_array_equal(mixtures[0].signals, law.centres)
    np.testing.assert_array_equal(mixtures[0].weights, SUPPORT.weights)


def test_draws_of_a_certificate_change_with_whatever_could_be_chosen() -> None:
    outputs, weights = SUPPORT.outputs, np.arange(1.0, 9.0)
    made = [
        generator_for(support, *labels)
        for support in (SUPPORT, Support(outputs + 1), Support(outputs, weights))
        for labels in (("b", 1), ("b", 2), ("c", 1))
    ]
    assert len({int(each.integers(2**62)) for each in made}) == 9
    again = generator_for(Support(outputs.copy()), "b", 1).integers(2**62)
    assert again == generator_for(SUPPORT, "b", 1).integers(2**62)


def test_slack_of_the_lattice_counts_coordinates_and_range() -> None:
    assert lattice_slack(3, 2.0) == 6 * lattice_slack(1, 1.0) == 6 * 2.0**-44
