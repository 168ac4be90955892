"""Outputs from 2**-1000 to 2**1000, mixed across coordinates, worlds and pairs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pacsklearn.kernel.answers.value_engine import ValueEngine
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.plugins import registry
from pacsklearn.sampled.confident import confident_law
from pacsklearn.srpp.laws.slice_profile import SliceProfile
from pacsklearn.srpp.laws.sliced_gaussian import SlicedTarget, sliced_law
from pacsklearn.srpp.scenarios.scenario import DataWorld, Law, Worlds
from pacsklearn.universe.metrics import DiagonalMetric

ORDER = 4.0
DRAW = np.random.default_rng(0)
OUTPUTS = DRAW.normal(size=(6, 3)) + 2
EXPONENTS = st.integers(-1000, 1000)
NUMBERS = st.builds(np.ldexp, st.sampled_from([0.0, 1.0, 1.25, -1.5]), EXPONENTS)
# Far apart, or all close to one of two sizes: both sides of a pair should often agree.
TABLES = st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=2, max_size=6).flatmap(
    lambda rows: st.lists(st.sampled_from(rows), min_size=6, max_size=6)
)


def scenario(members: tuple[tuple[int, ...], ...], pairs: tuple[tuple[int, int], ...]) -> Worlds:
    n = max(max(each) for each in members) + 1
    return Worlds(
        secrets=tuple("abcdef"[: len(members)]),
        priors=("p",),
        worlds=(DataWorld(np.ones((1, 1))),) * n,
        laws=tuple(Law(i, 0, each) for i, each in enumerate(members)),
        pairs=pairs,
    )


SINGLE = scenario(tuple((i,) for i in range(6)), ((0, 1), (2, 3), (4, 5)))
SEVERAL = scenario(((0, 1), (2, 3, 4, 5)), ((0, 1),))


def target(aggregation: str = "full", epsilon: float = 0.3, d: int = 2) -> SlicedTarget:
    return SlicedTarget(epsilon, ORDER, aggregation, SliceProfile.uniform(d, n_slices=8))


def differ(law: Any, worlds: Worlds) -> bool:
    """Whether the two sides of some pair release other numbers, or the same less often."""
    rows = [tuple(map(int, centre)) for centre in law.centres]
    for left, right in worlds.instances():
        shares = [
            {row: Fraction(n, len(side.members)) for row, n in Counter(members).items()}
            for side in (left, right)
            for members in [[rows[i] for i in side.members]]
        ]
        if shares[0] != shares[1]:
            return True
    return False


@settings(max_examples=60)
@given(TABLES, st.sampled_from([SINGLE, SEVERAL]), st.sampled_from(["full", "joint", "average"]))
def test_a_sliced_law_charges_nothing_only_where_equal_numbers_leave(
    table: Any, worlds: Worlds, aggregation: str
) -> None:
    vectors = np.array(table)
    law = sliced_law(vectors, worlds, target(aggregation))
    assert (law.cost == 0) == (not differ(law, worlds))
    assert law.is_noiseless <= (not differ(law, worlds))
    assert law.cost <= 0.3
    released = np.stack([law.decode(centre) for centre in law.centres])
    assert np.all(np.isfinite(released))
    if worlds is SINGLE and not law.is_noiseless:
        # One data set a secret: the divergence of two shifted Gaussians, in exact arithmetic.
        squares = [
            sum(Fraction(int(a) - int(b), LATTICE_SCALE) ** 2 for a, b in zip(x, y, strict=True))
            for x, y in (law.centres[[i, i + 1]] for i in (0, 2, 4))
        ]
        assert Fraction(ORDER) * max(squares) / 2 <= Fraction(law.costs.full)


@pytest.mark.product
@pytest.mark.parametrize("exponent", [-1000, -600, -300, 300, 600, 1000])
@pytest.mark.parametrize("aggregation", ["full", "joint", "average"])
def test_a_sliced_law_is_the_same_at_every_size(aggregation: str, exponent: int) -> None:
    worlds, wanted = SEVERAL, target(aggregation, d=3)
    plain = sliced_law(OUTPUTS, worlds, wanted)
    law = sliced_law(np.ldexp(OUTPUTS, exponent), worlds, wanted)
    np.testing.assert_allclose(law.centres, plain.centres, rtol=1e-6, atol=2)
    assert law.cost == pytest.approx(plain.cost, rel=1e-5)
    for centre in plain.centres:
        released = np.ldexp(law.decode(centre), -exponent)
        np.testing.assert_allclose(released, plain.decode(centre), rtol=1e-5)


def test_pairs_that_agree_inside_and_differ_among_each_other_say_so() -> None:
    law = sliced_law(np.array([[0.2], [0.2], [0.6], [0.6], [1.0], [1.0]]), SINGLE, target(d=1))
    assert law.is_noiseless
    assert law.cost == 0
    assert "no protected pair differs" in law.proof


def test_what_no_slice_sees_is_refused() -> None:
    across = SlicedTarget(1.0, ORDER, "average", SliceProfile(np.array([[1.0, 0.0]])))
    vectors = np.array([[0.0, 1.0], [0.0, 2.0]])
    worlds = scenario(((0,), (1,)), ((0, 1),))
    with pytest.raises(ValueError, match="slice"):
        sliced_law(vectors, worlds, across)


@pytest.mark.product(only=3)
@pytest.mark.parametrize("backend", ["logdet", "eigen", "isotropic", "diagonal", "residual"])
@pytest.mark.parametrize("exponent", [-1000, 600, 1000])
def test_a_law_of_candidates_is_the_same_at_every_size(backend: str, exponent: int) -> None:
    calibrate = registry().noise_backend(backend).calibrate
    plain = calibrate(Support(OUTPUTS), Target(0.25), IdentityMetric())
    law = calibrate(Support(np.ldexp(OUTPUTS, exponent)), Target(0.25), IdentityMetric())
    if plain.confidence == 1:
        np.testing.assert_allclose(law.centres, plain.centres, rtol=1e-6, atol=2)
        assert law.bound == pytest.approx(plain.bound, rel=1e-9)
    assert 0.2 < law.bound <= 0.25
    for index, output in enumerate(OUTPUTS):
        released = np.ldexp(law.decode(law.centres[index]), -exponent)
        np.testing.assert_allclose(released, output, rtol=1e-4)


@settings(max_examples=60)
@given(TABLES, st.sampled_from(["logdet", "diagonal", "isotropic"]))
def test_candidates_of_mixed_sizes_differ_only_under_noise(table: Any, backend: str) -> None:
    law = (
        registry()
        .noise_backend(backend)
        .calibrate(Support(np.array(table)), Target(0.1), IdentityMetric())
    )
    assert law.bound <= 0.1
    assert np.all(np.isfinite([law.decode(centre) for centre in law.centres]))
    # All candidates are equally likely: the linear bound of the numbers that leave.
    if not law.is_noiseless and backend != "logdet":
        offsets = (law.centres - np.rint(law.centres.mean(axis=0))) / LATTICE_SCALE
        assert np.sum(offsets**2) / (2 * len(law.centres)) <= 0.1 * (1 + 1e-9)
    if law.is_noiseless:
        assert len(np.unique(law.centres, axis=0)) == 1


@settings(max_examples=40)
@given(TABLES, st.lists(st.sampled_from([0.0, 1e-320, 1e-150, 0.5, 1.0]), min_size=6, max_size=6))
# A deviation that is a number, and its square is not.
@example([[0.0, 2.0**-6 * (i in (2, 5))] for i in range(6)], [0.0, 0.0, 0.5, 0.0, 1e-320, 0.0])
def test_candidates_that_hardly_anybody_believes_in_may_be_of_any_size(
    table: Any, weights: list[float]
) -> None:
    support = Support(np.array(table), np.array([*weights[:5], 1.0]))
    for backend in ("logdet", "eigen", "isotropic", "diagonal"):
        law = registry().noise_backend(backend).calibrate(support, Target(0.1), IdentityMetric())
        assert law.bound <= 0.1
        assert np.all(np.isfinite([law.decode(centre) for centre in law.centres]))


def test_a_candidate_without_weight_sets_no_unit() -> None:
    outputs = np.ldexp([[1.0], [3.0], [1.0]], [[-900], [-900], [600]])
    law = (
        registry()
        .noise_backend("logdet")
        .calibrate(Support(outputs, np.array([0.5, 0.5, 0.0])), Target(0.1), IdentityMetric())
    )
    assert 0.09 < law.bound <= 0.1
    np.testing.assert_allclose(law.decode(law.centres[1]), outputs[1], rtol=1e-5)


@pytest.mark.parametrize("units", [[-480, 0, 480], [510, 510, 510]])
def test_a_metric_may_undo_the_sizes_of_coordinates(units: list[int]) -> None:
    """Weights of a metric go with the square of a unit: the law is that of ordinary units."""
    calibrate = registry().noise_backend("logdet").calibrate
    plain = calibrate(Support(OUTPUTS), Target(0.25), IdentityMetric())
    metric = DiagonalMetric(np.ldexp(1.0, np.multiply(units, -2)))
    law = calibrate(Support(np.ldexp(OUTPUTS, units)), Target(0.25), metric)
    np.testing.assert_allclose(law.centres, plain.centres, atol=2)
    assert law.dimension == 3


@pytest.mark.parametrize("exponent", [-1000, -600, 600, 1000])
def test_a_sampled_secrets_law_is_the_same_at_every_size(exponent: int) -> None:
    calibration, certificate = DRAW.normal(size=(40, 2)), DRAW.normal(size=(400, 2))
    plain = confident_law(calibration, certificate, Target(0.5))
    law = confident_law(
        np.ldexp(calibration, exponent), np.ldexp(certificate, exponent), Target(0.5)
    )
    assert law.bound == plain.bound > 0
    for own in (certificate[0], certificate[1] * 1e3):
        point = law.point(np.ldexp(own, exponent))
        np.testing.assert_array_equal(point, plain.point(own))
        np.testing.assert_allclose(np.ldexp(law.decode(point), -exponent), plain.decode(point))
    # The unit is that of the trials: a secret of any other size is still pulled back, silently.
    for far in (2.0**1000, -(2.0**-1000), 1.7e308):
        assert np.all(np.isfinite(law.decode(law.point(np.full(2, far)))))


@pytest.mark.parametrize("exponent", [-1000, -600, 600, 1000])
def test_answers_are_the_same_at_every_size_whatever_is_asked_with_them(exponent: int) -> None:
    values = DRAW.normal(size=(4, 5, 2))
    belief, noise = np.full(5, -np.log(5)), np.rint(DRAW.normal(size=8) * 2**20).astype(np.int64)
    plain = ValueEngine().answer(values, 2, belief, 0.02, noise)
    mixed = np.ldexp(values, np.array([exponent, 0, -exponent, exponent])[:, None, None])
    step = ValueEngine().answer(mixed, 2, belief, 0.02, noise)
    back = -np.array([exponent, 0, -exponent, exponent])[:, None]
    np.testing.assert_allclose(np.ldexp(step.answers, back), plain.answers, rtol=1e-12)
    np.testing.assert_allclose(np.ldexp(step.deviations, back), plain.deviations, rtol=1e-12)
    np.testing.assert_allclose(step.charges, plain.charges, rtol=1e-12)
