"""Success at many targets, and the shape that hides directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, linalg, stats

from pacsklearn.capping.criterion import estimated_success, minimum_trace_cover
from pacsklearn.kernel.bounds.criterion_success import (
    Looks,
    _looked_at,
    certified_success,
    one_look,
)
from pacsklearn.kernel.bounds.mean_bound import chernoff_bounds, upper_mean_bounds
from pacsklearn.kernel.bounds.mixture import GaussianMixture, posteriors, single_posteriors
from pacsklearn.kernel.bounds.overlap import OverlapSuccess
from pacsklearn.kernel.bounds.spread import Spread
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.budget.guess_criterion import identification
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.secrets import SecretSpace, balanced_space
from pacsklearn.universe.listed_space import listed_space

SPACE = balanced_space(60, n_subsets=8)


class OfSets(Criterion):
    """Telling whether the secret is in each of some sets."""

    name, lowest, has_sets = "sets", 0.5, True

    def __init__(self, sets: NDArray[np.bool_]) -> None:
        self._sets = sets

    @property
    def n_targets(self) -> int:
        return len(self._sets)

    def gains(self, target: int) -> Any:
        yield np.stack([self._sets[target], ~self._sets[target]])

    def sets(self, targets: Any = slice(None)) -> Any:
        return self._sets[targets]


@pytest.mark.parametrize("distance", [0.0, 0.5, 2.0, 30.0])
def test_two_candidates_have_a_closed_form(distance: float) -> None:
    space = listed_space([[0], [1]], n_rows=2)
    mixture = GaussianMixture(np.array([[0.0], [distance]]), np.array([0.5, 0.5]))
    exact = stats.norm.cdf(distance / 2)
    for criterion in (MembershipCriterion(space), identification(space)):
        found = estimated_success(mixture, criterion, 50_000, np.random.default_rng(0))
        np.testing.assert_allclose(found, exact, atol=5e-3)
        bound = certified_success(mixture, criterion, 4096, 1e-6, np.random.default_rng(1))
        assert exact <= bound <= exact + 0.02


def test_the_certificate_covers_the_worst_target() -> None:
    """One record is easy to tell: 59 others and 64 times fewer draws do not hide it."""
    members = SPACE.membership()
    outputs = (members[7].astype(float) - 0.5)[:, None] * 3.0
    mixture = GaussianMixture(outputs, np.full(8, 1 / 8))
    criterion = MembershipCriterion(SPACE)
    exact = stats.norm.cdf(1.5)
    bound = certified_success(mixture, criterion, 2048, 1e-3, np.random.default_rng(0))
    assert exact <= bound <= exact + 0.01


@pytest.mark.soak
@pytest.mark.statistical
def test_certificates_fail_no_more_often_than_they_say() -> None:
    """500 certificates at gamma = 0.2: 130 failures have probability 6e-4 if the rate were 0.2."""
    space = listed_space([[0], [1]], n_rows=2)
    mixture = GaussianMixture(np.array([[0.0], [1.0]]), np.array([0.5, 0.5]))
    criterion, exact = MembershipCriterion(space), stats.norm.cdf(0.5)
    failures = sum(
        certified_success(mixture, criterion, 64, 0.2, np.random.default_rng(seed)) < exact
        for seed in range(500)
    )
    assert failures < 130


class TestLeastVisible:
    def test_orthogonal_directions_have_a_closed_form(self) -> None:
        """Minimising ``s1 + s2`` under ``a^2 / s1 <= 1`` and ``b^2 / s2 <= 1``."""
        found = minimum_trace_cover(np.array([[5.0, 0.0], [0.0, 0.5]]), max_iterations=400)
        np.testing.assert_allclose(np.diag(found), [25.0, 0.25], rtol=0.1)
        assert np.trace(found) == pytest.approx(25.25, rel=2e-3)

    def test_feasible_and_close_to_its_dual_bound(self) -> None:
        directions = np.random.default_rng(0).standard_normal((300, 4)) * [3, 2, 1, 0.5]
        found = minimum_trace_cover(directions, max_iterations=500)
        visible = np.einsum("ij,jk,ik->i", directions, np.linalg.inv(found), directions)
        assert visible.max() == pytest.approx(1.0)
        # Weak duality: tr S >= (tr M^(1/2))^2 for M = sum u d d' and any weights u.
        tight = visible > 0.9
        best = 0.0
        weights = np.where(tight, visible**40, 0.0)
        for _ in range(200):
            matrix = (directions.T * (weights / weights.sum())) @ directions
            values, vectors = np.linalg.eigh(matrix)
            best = max(best, np.sqrt(np.maximum(values, 0)).sum() ** 2)
            inverse = (vectors / np.sqrt(values)) @ vectors.T
            weights = weights * np.einsum("ij,jk,ik->i", directions, inverse, directions)
        assert best <= np.trace(found) <= 1.05 * best

    @pytest.mark.parametrize("rounds", [1, 2, 5])
    def test_weights_follow_how_visible_each_direction_is(self, rounds: int) -> None:
        """Titterington's update by square roots of matrices, one direction in none of the rest."""
        directions = np.random.default_rng(0).standard_normal((40, 3)) * [5.0, 1.0, 0.0]
        floor = 1e-6 * np.sum(directions**2) / 40 / 3
        weights = np.full(40, 1 / 40)
        for _ in range(rounds):
            matrix = sum(u * np.outer(d, d) for u, d in zip(weights, directions, strict=True))
            root = linalg.sqrtm(matrix + floor * np.eye(3))
            visible = np.array([d @ np.linalg.solve(root, d) for d in directions])
            weights = weights * visible / (weights @ visible)
        found = minimum_trace_cover(directions, max_iterations=rounds)
        np.testing.assert_allclose(found, root * visible.max(), rtol=1e-9, atol=1e-9)

    def test_it_ends_when_all_weighted_directions_are_about_as_visible(self) -> None:
        directions = np.array([[1.0, 0.0], [0.0, 1.0]]) * [[1.0], [1.0002]]
        once, often = (minimum_trace_cover(directions, max_iterations=n) for n in (1, 500))
        np.testing.assert_array_equal(once, often)
        directions[1, 1] = 1.003
        once, often = (minimum_trace_cover(directions, max_iterations=n) for n in (1, 500))
        assert np.trace(often) < np.trace(once)

    def test_nothing_to_hide(self) -> None:
        with pytest.raises(ValueError, match="zero"):
            minimum_trace_cover(np.zeros((3, 2)))


def exact(signals: np.ndarray, weights: np.ndarray, unit: np.ndarray) -> float:
    """``E max(P, 1 - P)`` by quadrature in one dimension."""

    def larger(y: float) -> float:
        joint = weights * stats.norm.pdf(y - signals)
        return float(max(joint @ unit, joint @ ~unit))

    edges = (signals.min() - 9, signals.max() + 9)
    return float(integrate.quad(larger, *edges, limit=400, epsabs=1e-9)[0])


def every_set(m: int) -> np.ndarray:
    codes = np.arange(1, 2**m - 1)
    return (codes[:, None] >> np.arange(m) & 1).astype(bool)


@pytest.mark.product
@pytest.mark.parametrize("spread_of_signals", [0.1, 0.7, 3.0, 1e7])
@pytest.mark.parametrize("even", [True, False])
def test_every_set_of_a_tiny_space(spread_of_signals: float, even: bool) -> None:
    """Sets of five candidates, with priors from 1/20 to 19/20, one at a time and all together."""
    generator = np.random.default_rng(3)
    signals = spread_of_signals * generator.standard_normal(5)
    weights = np.full(5, 0.2) if even else np.array([0.05, 0.1, 0.2, 0.25, 0.4])
    mixture = GaussianMixture(signals[:, None], weights)
    truths = []
    for unit in every_set(5)[::4]:
        bound = certified_success(
            mixture, OfSets(unit[None]), 2**10, 1e-6, np.random.default_rng(1)
        )
        truth = exact(signals, weights, unit) if spread_of_signals < 100 else 1.0
        truths.append(truth)
        assert truth - 1e-9 <= bound <= truth + 0.03
    worst = certified_success(mixture, OfSets(every_set(5)), 2**10, 1e-6, np.random.default_rng(2))
    assert max(truths) - 1e-9 <= worst


def test_the_same_as_looking_at_everything() -> None:
    """One hundred units of every visibility: what is screened out was never the worst."""
    generator = np.random.default_rng(0)
    space = balanced_space(100, n_subsets=32)
    influence = generator.standard_t(2, size=(100, 6)) / 20
    mixture = GaussianMixture(space.membership().T @ influence, np.full(32, 1 / 32))
    criterion = MembershipCriterion(space)
    found = estimated_success(mixture, criterion, 50_000, np.random.default_rng(5))
    for seed in range(5):
        bound = certified_success(mixture, criterion, 2**11, 1e-6, np.random.default_rng(seed))
        assert found.max() - 4 * 0.5 / np.sqrt(50_000) <= bound <= found.max() + 0.02


@pytest.mark.soak
@pytest.mark.statistical
def test_certificates_fail_no_more_often_than_they_say_of_screened_success() -> None:
    """200 certificates at gamma = 0.2: 59 failures have probability 9e-4 if the rate were 0.2."""
    signals, weights = np.array([-0.6, 0.0, 0.1, 0.9]), np.full(4, 0.25)
    mixture = GaussianMixture(signals[:, None], weights)
    truth = max(exact(signals, weights, unit) for unit in every_set(4))
    failures = sum(
        certified_success(mixture, OfSets(every_set(4)), 32, 0.2, np.random.default_rng(seed))
        < truth
        for seed in range(200)
    )
    assert failures < 59


@pytest.mark.parametrize("rare", [1.0, 1e-50])
def test_spread_is_the_variance_of_the_posterior(rare: float) -> None:
    """Also where a candidate is so rare that its variance is no number in single precision."""
    generator = np.random.default_rng(0)
    weights = generator.dirichlet(np.ones(6)) * [rare, 1, 1, 1, 1, 1]
    mixture = GaussianMixture(generator.standard_normal((6, 2)), weights / weights.sum())
    blocks = list(mixture.draws(3000, generator))
    sets = every_set(6)
    kept: list[np.ndarray] = []
    spread = Spread(mixture, blocks, len(sets), kept)
    (variances, rates), wrong = spread.of(sets), spread.error
    inside = np.concatenate([posteriors(mixture, draws) for draws in blocks]) @ sets.T
    np.testing.assert_allclose(rates, sets @ mixture.weights)
    exactly = np.mean((inside - rates) ** 2, axis=0)
    every = np.concatenate([posteriors(mixture, draws) for draws in blocks]) - mixture.weights
    most = exactly + 2.0**-9 * np.mean(np.sum(every**2, axis=1))
    error = 2 * wrong
    assert np.all((exactly - error <= variances) & (variances <= most + error))
    assert sum(len(part) for part, _ in kept) == 3000


@pytest.mark.parametrize("size", [1e-300, 1e-3, 0.3, 0.9, 3.0, 40.0, 1e7, 1e150])
def test_posteriors_in_single_precision_are_as_near_as_stated(size: float) -> None:
    generator = np.random.default_rng(0)
    for m in (2, 8, 128):
        signals = size * generator.standard_normal((m, 3))
        mixture = GaussianMixture(signals, generator.dirichlet(np.ones(m)))
        for draws in mixture.draws(2000, generator):
            table, most = single_posteriors(mixture, draws)
            error = table - posteriors(mixture, draws)
            # The set that errs most holds all that are too large.
            assert np.abs(np.maximum(error, 0).sum(axis=1)).max() <= most
            assert np.abs(np.minimum(error, 0).sum(axis=1)).max() <= most


def test_draws_and_looks_follow_from_sizes() -> None:
    """Whatever the signals are, the generator stands where it stood after others."""
    sets = np.random.default_rng(0).random((500, 16)) < 0.5
    ends = []
    for size in (1e-3, 0.5, 5.0):
        signals = size * np.random.default_rng(1).standard_normal((16, 3))
        generator = np.random.default_rng(2)
        mixture = GaussianMixture(signals, np.full(16, 1 / 16))
        certified_success(mixture, OfSets(sets), 64, 1e-6, generator, 600_000)
        ends.append(generator.bit_generator.state)
    assert ends[0] == ends[1] == ends[2]


def test_looks_at_tables_of_any_size() -> None:
    few, some, many = (Looks.of(t, 128, 1024, 2**32) for t in (300, 20_000, 1_000_000))
    assert few == Looks(4096, 4096, 16_384, 300, 256)
    assert some == Looks(4096, 4096, 16_384, 2048, 256)
    assert many == Looks(65_536, 0, 0, 0, 0)
    # With more work: fewer draws at all sets, rather than many draws at some.
    assert Looks.of(50_000, 128, 8192, 2**36) == Looks(5368, 5368, 131_072, 50_000, 1024)
    assert Looks.of(200_000, 128, 8192, 2**36).second == 0


@pytest.mark.product(only=4)
@pytest.mark.parametrize(
    ("n_draws", "work"), [(64, 2**36), (64, 3_000_000), (64, 600_000), (2048, 120_000_000)]
)
@pytest.mark.parametrize("size", [0.2, 1.5])
def test_the_looks_are_those_of_the_notes(n_draws: int, work: int, size: float) -> None:
    """Every look in double precision, on the same draws; single precision may add its error."""
    generator = np.random.default_rng(0)
    sets = generator.random((1500, 16)) < 0.5
    sets = sets[sets.any(axis=1) & ~sets.all(axis=1)]
    weights, gamma = generator.dirichlet(np.full(16, 3.0)), 1e-3
    mixture = GaussianMixture(size * generator.standard_normal((16, 3)), weights)
    looks = Looks.of(len(sets), 16, n_draws, work)
    draws, share = np.random.default_rng(1), gamma / (3 if looks.second else 1) / len(sets)

    def success(n: int) -> tuple[np.ndarray, np.ndarray]:
        blocks = mixture.draws(n, draws)
        inside = np.concatenate([posteriors(mixture, each) for each in blocks]) @ sets.T
        return inside, np.abs(inside - 0.5)

    def look(values: np.ndarray, chosen: np.ndarray, share: float = share) -> float:
        own = values[:, chosen]
        sums = own.sum(axis=0), (own**2).sum(axis=0)
        found = 0.5 + upper_mean_bounds(*sums, len(own), 0.0, 0.5, share)
        bounds[chosen] = np.minimum(bounds[chosen], found)
        return 0.5 + own.mean(axis=0).max()

    def highest(most: int) -> np.ndarray:
        above = np.argsort(bounds)[-most:]
        return above[bounds[above] >= worst]

    inside, values = success(looks.spread)
    rates = sets @ weights
    widest = np.maximum(rates, 1 - rates) ** 2
    level = np.mean((inside - rates) ** 2, axis=0) / widest
    above = widest * chernoff_bounds(np.minimum(level * (1 + 1 / 128), 1.0), looks.spread, share)
    bounds, worst = np.minimum(0.5 + np.sqrt((rates - 0.5) ** 2 + above), 1.0), 0.0
    bounds = np.minimum(bounds, OverlapSuccess(mixture, len(sets)).of(sets))
    if looks.second:
        worst = look(values[: looks.second], highest(64))
        worst = max(worst, look(values[: looks.second], highest(looks.wide)))
        look(success(looks.third)[1], highest(looks.narrow), gamma / 3 / looks.narrow)
    found = certified_success(mixture, OfSets(sets), n_draws, gamma, np.random.default_rng(1), work)
    assert found == pytest.approx(bounds.max(), abs=1e-3)


@pytest.mark.parametrize("size", [0.01, 0.5])
def test_units_that_pass_by_are_bounded_as_those_that_are_held(size: float) -> None:
    """Some twice, some in all candidates and some in none, which have no secret."""
    generator = np.random.default_rng(0)
    held = generator.random((1500, 16)) < 0.5
    held[:50], held[50], held[51] = held[100:150], True, False
    space = SecretSpace(np.packbits(held, axis=1), 16, np.full(16, 1 / 16))
    criterion = MembershipCriterion(space)
    assert not Looks.of(criterion.distinct.size, 16, 64, 600_000).second
    mixture = GaussianMixture(size * generator.standard_normal((16, 3)), np.full(16, 1 / 16))
    bounds = [
        certified_success(mixture, each, 64, 1e-6, np.random.default_rng(1), 600_000)
        for each in (criterion, OfSets(criterion.sets(criterion.distinct)))
    ]
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-12)
    assert 0.5 < bounds[0] < 1


def test_units_of_one_pattern_are_one_target() -> None:
    space = listed_space([[0, 1, 2], [0, 3], [1, 2, 3]], n_rows=5)
    criterion = MembershipCriterion(space)
    assert criterion.n_targets == 4
    assert criterion.distinct.tolist() == [0, 1, 3]


def test_single_precision_is_paid_for() -> None:
    """Quarters are summed exactly, so that what is added for rounding shows by itself."""
    table = np.eye(4, dtype=np.float32)[np.random.default_rng(0).integers(4, size=600)]
    table = (table + np.float32(0.5) * (table[:, [1, 0, 3, 2]] - table)).astype(np.float32)
    table[:100] = 0.25
    sets = every_set(4)
    values = np.abs(table.astype(np.float64) @ sets.T - 0.5)
    total, squares = values.sum(axis=0), (values**2).sum(axis=0)
    unit = 2.0**-23
    error = 4 * unit / 2 + 1e-7 + (256 + 1) * unit
    expected = upper_mean_bounds(
        total, squares * (1 + (256 + 2) * unit), 600, 0.0, 0.5 + error, 1e-3
    )
    bounds = np.ones(len(sets))
    worst = _looked_at(sets, np.arange(len(sets)), [(table, 1e-7)], 600, 1e-3, bounds)
    assert worst == 0.5 + total.max() / 600
    np.testing.assert_allclose(bounds, np.minimum(1.0, expected + 0.5 + error), rtol=1e-13)


def test_a_mean_above_every_certain_bound_leaves_these() -> None:
    """Few draws may mislead: what they say is then too high, and no set is looked at again."""
    sets = np.random.default_rng(0).random((300, 16)) < 0.5
    signals = 0.01 * np.random.default_rng(1).standard_normal((16, 3))
    mixture = GaussianMixture(signals, np.full(16, 1 / 16))
    assert 75 <= Looks.of(300, 16, 2, 12_000).wide < 300
    certain = OverlapSuccess(mixture, len(sets)).of(sets).max()
    for seed in range(5):
        generator = np.random.default_rng(seed)
        assert certified_success(mixture, OfSets(sets), 2, 0.9, generator, 12_000) <= certain


@pytest.mark.parametrize("size", [0.01, 3.0])
def test_nothing_is_drawn_where_the_closed_form_is_close(size: float) -> None:
    places = np.tile(np.arange(16), (300, 1))
    sets = np.random.default_rng(0).permuted(places, axis=1) < 8
    signals = size * np.random.default_rng(1).standard_normal((16, 3))
    mixture, generator = GaussianMixture(signals, np.full(16, 1 / 16)), np.random.default_rng(2)
    before = generator.bit_generator.state
    some = sets[:10]
    bounds = one_look(mixture, some, 300, 256, 1e-6, generator)(sets)
    certain = OverlapSuccess(mixture, 300)
    assert (generator.bit_generator.state == before) == (size == 0.01)
    if size == 0.01:
        assert np.array_equal(bounds, certain.screen(certain.of(some).max())(sets))
    else:
        assert np.all(bounds <= certain.of(sets))
        assert bounds.max() < certain.of(sets).max()
