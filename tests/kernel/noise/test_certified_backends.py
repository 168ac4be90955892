"""Backends whose bound is certified by simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from pacsklearn_papers import residual
from pacsklearn_papers.information_estimate import certified_information, mixture_information
from pacsklearn_papers.residual import ResidualBackend

from pacsklearn._fit_report import recorded
from pacsklearn.capping import criterion
from pacsklearn.capping.criterion import CriterionBackend, estimated_success
from pacsklearn.kernel.bounds.criterion_success import (
    certified_success,
    second_look,
    success_sums,
)
from pacsklearn.kernel.bounds.lattice_bound import SpanCoordinates, logdet_allocation
from pacsklearn.kernel.bounds.mixture import GaussianMixture
from pacsklearn.kernel.bounds.noise_shape import NoiseShape
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.budget.guess_criterion import GuessCriterion, identification
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.kernel.noise import cap_backend, certified, lattice
from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.secrets import balanced_space
from pacsklearn.shaping.closed_forms import EigenBackend
from pacsklearn.testing import check_noise_backend
from pacsklearn.universe.metrics import DiagonalMetric

SPACE = balanced_space(200, n_subsets=32)
RESIDUAL = ResidualBackend(n_draws=2048, n_certificate=2**15)
CRITERION = CriterionBackend(n_draws=1024, n_certificate=2048)


@pytest.fixture(scope="module")
def means() -> Support:
    rows = np.random.default_rng(0).standard_normal((200, 5)) ** 3
    return Support(SPACE.membership().T @ rows / 100)


def mixture(law: NoiseLaw, support: Support) -> GaussianMixture:
    return GaussianMixture((law.centres - law.centres[0]) / LATTICE_SCALE, support.weights)


@pytest.mark.soak
def test_residual_keeps_the_contract_of_backends() -> None:
    check_noise_backend(ResidualBackend(n_draws=512, n_certificate=2**12))


@pytest.mark.parametrize("budget", [0.05, 2.5])
def test_residual_spends_the_budget_on_what_leaks(means: Support, budget: float) -> None:
    law = RESIDUAL.calibrate(means, Target(budget), IdentityMetric())
    gaussian = LogdetBackend().calibrate(means, Target(budget), IdentityMetric())
    assert law.noise_power <= gaussian.noise_power
    found = mixture_information(mixture(law, means), 50_000, np.random.default_rng(7))
    assert found.nats - 4 * found.standard_error <= law.bound <= budget
    if law.backend == "residual":
        assert law.confidence == 1 - 1e-6
        assert found.nats + 4 * found.standard_error >= 0.95 * budget
    else:
        assert law.confidence == 1.0
    if budget == 2.5:
        eigen = EigenBackend().calibrate(means, Target(budget), IdentityMetric())
        assert law.noise_power < 0.7 * eigen.noise_power


def test_residual_is_a_function_of_the_support(means: Support) -> None:
    first, again = (RESIDUAL.calibrate(means, Target(1.0), IdentityMetric()) for _ in range(2))
    np.testing.assert_array_equal(first.centres, again.centres)
    np.testing.assert_array_equal(first.step, again.step)


def test_an_impossible_candidate_changes_nothing() -> None:
    rows = np.random.default_rng(0).standard_normal((6, 2))
    outputs = np.vstack([rows, [1e12, -1e12]])
    weights = np.array([1 / 6] * 6 + [0.0])
    law = RESIDUAL.calibrate(Support(outputs, weights), Target(1.0), IdentityMetric())
    alone = RESIDUAL.calibrate(Support(rows), Target(1.0), IdentityMetric())
    assert law.noise_power == pytest.approx(alone.noise_power, rel=0.05)


class TestCriterion:
    @pytest.mark.soak
    def test_an_estimate_is_about_as_large_and_relied_on_by_nobody(self, means) -> None:
        target = Target(0.6, MembershipCriterion(SPACE))
        # With a few draws, which shape is taken for the best is chance.
        backend = CriterionBackend()
        law = backend.calibrate(means, target, IdentityMetric())
        estimate = backend.estimate(means, target, IdentityMetric())
        assert 0.75 < estimate.noise_power / law.noise_power < 1.25
        assert estimate.confidence == 0
        assert "estimated" in estimate.proof
        tiny = Support(means.outputs * 2.0**-600)
        same = backend.estimate(tiny, target, IdentityMetric())
        np.testing.assert_array_equal(same.centres, estimate.centres)

    @pytest.mark.product(only=3)
    @pytest.mark.parametrize("cap", [0.53, 0.6, 0.8])
    @pytest.mark.parametrize("name", ["membership", "identification"])
    def test_fresh_attacks_stay_below_the_cap(self, means: Support, cap: float, name: str) -> None:
        criterion = MembershipCriterion(SPACE) if name == "membership" else identification(SPACE)
        law = CRITERION.calibrate(means, Target(cap, criterion), IdentityMetric())
        found = estimated_success(mixture(law, means), criterion, 30_000, np.random.default_rng(9))
        error = 3 * 0.5 / np.sqrt(30_000)
        assert found.max() - error <= law.bound <= cap
        # The cap is used: no more than a tenth of what may be gained is left.
        blind = criterion.prior(means.weights).max()
        assert found.max() + error >= blind + 0.8 * (cap - blind)
        assert law.information is not None
        whole = mixture_information(mixture(law, means), 20_000, np.random.default_rng(3))
        assert whole.nats - 4 * whole.standard_error <= law.information

    def test_less_noise_than_the_information_that_promises_the_same(self, means: Support) -> None:
        cap = posterior_success(1 / 64, 0.5)
        law = CRITERION.calibrate(means, Target(cap, MembershipCriterion(SPACE)), IdentityMetric())
        gaussian = LogdetBackend().calibrate(means, Target(1 / 64), IdentityMetric())
        assert law.noise_power < gaussian.noise_power / 5

    def test_one_easy_record_decides(self) -> None:
        """All outputs alike but for who holds record 3."""
        outputs = np.outer(SPACE.membership()[3], [1.0, 2.0])
        law = CRITERION.calibrate(
            Support(outputs), Target(0.7, MembershipCriterion(SPACE)), IdentityMetric()
        )
        found = estimated_success(
            mixture(law, Support(outputs)), MembershipCriterion(SPACE), 20_000,
            np.random.default_rng(0),
        )  # fmt: skip
        assert found.argmax() == 3
        assert 0.66 < found.max() < 0.71

    def test_no_noise_where_exact_outputs_are_harmless(self) -> None:
        outputs = np.repeat([0.0, 1.0], 16)[:, None]
        halves = GuessCriterion(np.eye(32), "name", "name it")
        law = CRITERION.calibrate(Support(outputs), Target(0.07, halves), IdentityMetric())
        assert law.is_noiseless
        assert law.bound == pytest.approx(1 / 16)
        noisy = CRITERION.calibrate(Support(outputs), Target(0.05, halves), IdentityMetric())
        assert not noisy.is_noiseless

    def test_no_noise_beside_a_candidate_that_nobody_believes_in(self) -> None:
        """Its own output is no event: of two releases one half each, both tell ln 2.

        Who sees them succeeds as often as the cap allows, and no less.
        """
        outputs = np.array([-1.0, -1.0, 1.0, 1.0, 7.0])[:, None]
        support = Support(outputs, np.array([0.25, 0.25, 0.25, 0.25, 0.0]))
        names = GuessCriterion(np.eye(5), "name", "name it")
        law = CRITERION.calibrate(support, Target(0.5, names), IdentityMetric())
        assert law.is_noiseless
        assert law.bound == 0.5
        assert law.information is not None
        assert np.log(2) < law.information < np.log(2) * (1 + 1e-9)

    def test_no_noise_where_all_say_the_same(self) -> None:
        target = Target(0.6, MembershipCriterion(SPACE))
        law = CRITERION.calibrate(Support(np.ones((32, 2))), target, IdentityMetric())
        assert law.is_constant
        assert (law.bound, law.information) == (0.5, 0.0)

    def test_targets_are_looked_at_in_parts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Success without noise at the worst target, wherever among the parts it is."""
        outputs = np.repeat(np.arange(4.0), 8)[:, None]
        membership, beliefs = MembershipCriterion(SPACE), np.arange(1.0, 33.0)
        support = Support(outputs, beliefs)
        shares = np.add.reduceat(support.weights, [0, 8, 16, 24])
        inside = np.add.reduceat(membership.sets() * support.weights, [0, 8, 16, 24], axis=1)
        exact = np.max(np.maximum(inside, shares - inside).sum(axis=1))
        for cells in (2**22, 4, 12):
            monkeypatch.setattr("pacsklearn.kernel.budget.criterion.MOST_CELLS", cells)
            law = CRITERION.calibrate(support, Target(exact + 1e-9, membership), IdentityMetric())
            assert law.is_noiseless
            assert law.bound == pytest.approx(exact, rel=1e-12)
            entropy = -np.sum(shares * np.log(shares))
            assert law.information == pytest.approx(entropy, rel=1e-9)

    def test_the_metric_counts(self, means: Support) -> None:
        target = Target(0.6, MembershipCriterion(SPACE))
        weights = np.array([100.0, 1.0, 1.0, 1.0, 1.0])
        law = CRITERION.calibrate(means, target, DiagonalMetric(weights))
        plain = CRITERION.calibrate(means, target, IdentityMetric())

        def first(law: NoiseLaw) -> float:
            return float(np.sum((law.step * law.scale * law.axes[:, 0]) ** 2))

        assert first(law) < first(plain)

    def test_bad_targets(self, means: Support) -> None:
        membership = MembershipCriterion(SPACE)
        with pytest.raises(ValueError, match="criterion"):
            CRITERION.calibrate(means, Target(0.5), IdentityMetric())
        with pytest.raises(ValueError, match="guessing"):
            CRITERION.calibrate(means, Target(0.5, membership), IdentityMetric())
        with pytest.raises(ValueError, match="lies"):
            Target(1.5, membership)


@pytest.mark.parametrize(
    ("backend", "target"),
    [(LogdetBackend(), Target(0.05)), (CRITERION, Target(0.6, MembershipCriterion(SPACE)))],
    ids=["proved", "simulated"],
)
def test_reports_tell_the_time_of_the_certificate(
    backend: NoiseBackend, target: Target, means: Support
) -> None:
    with recorded() as report:
        backend.calibrate(means, target, IdentityMetric())
    assert report.wall.keys() == {"certificate", "other"}


def test_a_certificate_that_never_meets_the_cap_is_an_error(means: Support) -> None:
    backend = CriterionBackend(n_draws=256, n_certificate=1024, gamma=1e-6)
    target = Target(1 / 32 + 1e-4, identification(SPACE))
    with pytest.raises(ValueError, match="too few draws"):
        backend.calibrate(means, target, IdentityMetric())


def test_a_cap_just_above_blind_guessing_takes_no_more_draws(means: Support) -> None:
    """Of membership there is a bound in closed form besides, however few draws there are."""
    backend = CriterionBackend(n_draws=256, n_certificate=1024, gamma=1e-6)
    law = backend.calibrate(means, Target(0.5 + 1e-4, MembershipCriterion(SPACE)), IdentityMetric())
    assert 0.5 < law.bound <= 0.5 + 1e-4


@pytest.mark.parametrize("seed", [6, 69, 84, 127])
def test_residual_never_raises_where_logdet_works(seed: int) -> None:
    """Outliers 1e8 to 1e11 spreads away: plateaus of the mutual information, and no slope."""
    generator = np.random.default_rng(seed)
    m, k = int(generator.integers(4, 33)), int(generator.integers(1, 6))
    outputs = generator.normal(size=(m, k))
    far = generator.integers(0, m, 2)
    outputs[far] += 10.0 ** generator.uniform(8, 12) * generator.normal(size=(2, k))
    support = Support(outputs)
    backend = ResidualBackend(n_draws=512, n_certificate=2**12)
    for budget in (1e-3, 0.25, 0.75):
        law = backend.calibrate(support, Target(budget), IdentityMetric())
        assert law.bound <= budget
        exact = GaussianMixture(law.centres, support.weights, law.scale)
        found = mixture_information(exact, 5000, np.random.default_rng(1))
        assert found.nats - 5 * found.standard_error <= budget


def test_the_smaller_of_two_noises_is_taken() -> None:
    """One candidate far away has little to say, and Gaussian noise is made for its distance."""
    outputs = np.random.default_rng(0).standard_normal((16, 2))
    outputs[0] *= 1e4
    support, target = Support(outputs), Target(0.5)
    gaussian = LogdetBackend().calibrate(support, target, IdentityMetric())
    backend = ResidualBackend(n_draws=512, n_certificate=2**12)
    law = backend.calibrate(support, target, IdentityMetric())
    assert law.backend == "residual"
    assert law.noise_power < 0.9 * gaussian.noise_power
    for budget in (0.1, 2.0):
        least = backend.calibrate(support, Target(budget), IdentityMetric()).noise_power
        most = LogdetBackend().calibrate(support, Target(budget), IdentityMetric()).noise_power
        assert least <= most


@pytest.mark.parametrize(("k", "rounds", "most"), [(3, 60, 4096), (200, 60, 2621), (257, 12, 2040)])
def test_a_shape_is_made_for_the_directions_that_stand_out(
    k: int, rounds: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(0)
    directions, variances = generator.standard_normal((4200, k)), np.linspace(1.0, 3.0, k)
    asked, shaped = [], np.diag([*np.full(k - 1, 1e-4), 1e-20])

    def least(some: np.ndarray, *, max_iterations: int) -> np.ndarray:
        asked.append((some, max_iterations))
        return shaped

    span = SpanCoordinates(np.zeros((2, k)), variances, np.zeros((k, 2)))

    def found() -> np.ndarray:
        backend, support = CriterionBackend(n_draws=512), Support(np.zeros((2, k)))
        return backend.shape(support, span, GuessCriterion(np.eye(2), "n", "s"), 0.9).variances

    made: list[NoiseShape] = []
    mixture_of = NoiseShape.mixture

    def tried(shape: NoiseShape, *outputs: np.ndarray) -> GaussianMixture:
        made.append(shape)
        return mixture_of(shape, *outputs)

    monkeypatch.setattr(NoiseShape, "mixture", tried)
    monkeypatch.setattr(criterion, "success_directions", lambda *_: directions)
    monkeypatch.setattr(criterion, "minimum_trace_cover", least)
    monkeypatch.setattr(criterion, "least_log_factor", lambda *_, **__: 0.0)
    # Nothing is without noise, whatever a criterion does not look at.
    np.testing.assert_allclose(np.sort(found()), [1e-13, *np.full(k - 1, 1e-4)])
    plain = [logdet_allocation(variances, 0.25), np.sqrt(variances)]
    for shape, expected in zip(made[:2], plain, strict=True):
        np.testing.assert_array_equal(shape.axes, np.eye(k))
        np.testing.assert_array_equal(shape.variances, expected)
    # The best of three is scaled once more.
    np.testing.assert_array_equal(made[3].variances, made[2].variances)
    assert len(made) == 4
    [(some, iterations)] = asked
    assert iterations == rounds
    visible = np.sum(directions**2 / np.sqrt(variances), axis=1)
    expected = directions[np.argsort(visible)[-most:]]
    np.testing.assert_array_equal(np.unique(some, axis=0), np.unique(expected, axis=0))
    # A large table keeps its rows down to 256; all of a small one are looked at.
    monkeypatch.setattr(criterion, "_MOST_ENTRIES", 500)
    found()
    assert len(asked[1][0]) == 256
    directions = directions[:256]
    found()
    assert asked[2][0] is directions
    # One that looks nowhere gets the better of two shapes that know nothing of it.
    directions = np.zeros((5, k))
    np.testing.assert_array_equal(found(), min(plain, key=np.sum))
    assert len(asked) == 3


@pytest.mark.parametrize("share", [None, 1 - 1e-12, 1.0, 1 + 1e-12, 2.0])
def test_a_certified_law_that_is_no_smaller_is_left(
    share: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = np.random.default_rng(0).standard_normal((16, 2))
    outputs[0] *= 1e4
    support, target, tried = Support(outputs), Target(0.5), []
    gaussian = LogdetBackend().calibrate(support, target, IdentityMetric())

    def enlarged(*arguments: object) -> NoiseLaw | None:
        tried.append(arguments)
        if share is None:
            return None
        return replace(gaussian, backend="residual", noise_power=share * gaussian.noise_power)

    monkeypatch.setattr(residual, "certified_law", enlarged)
    backend = ResidualBackend(n_draws=512, n_certificate=2**12)
    law = backend.calibrate(support, target, IdentityMetric())
    assert len(tried) == 1
    assert (law.backend == "residual") is (share is not None and share < 1)


def test_certificates_pay_for_the_lattice(means: Support, monkeypatch: pytest.MonkeyPatch) -> None:
    """What differs between discrete and continuous noise is on top of what is simulated."""
    wide = GaussianMixture(np.random.default_rng(0).standard_normal((32, 200)) / 100, means.weights)
    kept: list[certified.Certificate] = []

    def keep(*arguments: Any, **_: object) -> NoiseLaw:
        kept.append(arguments[-1])
        return LogdetBackend().calibrate(means, Target(0.5), IdentityMetric())

    monkeypatch.setattr(cap_backend, "certified_law", keep)
    monkeypatch.setattr(residual, "certified_law", keep)
    membership = MembershipCriterion(SPACE)
    backend = CriterionBackend(n_draws=512, n_certificate=1024)
    backend.calibrate(means, Target(0.7, membership), IdentityMetric())
    ResidualBackend(n_draws=512, n_certificate=1024).calibrate(means, Target(2.0), IdentityMetric())
    success, nats = (each.figure(wide, 1e-6, np.random.default_rng(1)) for each in kept)
    alone = certified_success(wide, membership, 1024, 1e-6, np.random.default_rng(1))
    assert success - alone == pytest.approx(200 * 2.0**-44, rel=0.01)
    simulated = certified_information(wide, 1024, 1e-6, np.random.default_rng(1))
    assert nats - simulated == pytest.approx(200 * 2.0**-44 * np.log(32), rel=0.01)


def test_rounded_normals_are_as_close_to_the_discrete_gaussian_as_is_paid_for() -> None:
    """Total variation by 40 digits on a lattice of 2**6, where it is 2**28 times as large."""
    scale = 2**6
    with mpmath.workdps(40):
        points = range(-12 * scale, 12 * scale + 1)
        discrete = [mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * scale**2)) for x in points]
        total = mpmath.fsum(discrete)
        edges = [mpmath.ncdf((mpmath.mpf(x) - 0.5) / scale) for x in (*points, points[-1] + 1)]
        apart = mpmath.fsum(
            abs(mass / total - (edges[i + 1] - edges[i])) for i, mass in enumerate(discrete)
        )
    assert float(apart / 2) <= lattice.lattice_slack(1, 1.0) * (2**20 / scale) ** 2
    assert float(apart / 2) >= lattice.lattice_slack(1, 1.0) * (2**20 / scale) ** 2 / 8


def test_certificates_share_gamma_and_never_draws(means: Support) -> None:
    span = means.span(IdentityMetric())
    seen: list[tuple[float, float]] = []

    def certificate(_: GaussianMixture, gamma: float, generator: np.random.Generator) -> float:
        seen.append((gamma, generator.random()))
        return 0.2 if len(seen) < 4 else 0.05

    law = certified.certified_law(
        means,
        span.coordinates,
        span.mixing @ means.deviations,
        certified.NoiseShape(np.eye(5), span.variances),
        certified.Certificate(certificate, cap=0.1, gamma=1e-3, proof="p", backend="residual"),
    )
    assert sum(gamma for gamma, _ in seen) <= 1e-3
    assert len({value for _, value in seen}) == 4
    assert law.confidence == 1 - 1e-3
    assert law.noise_power > span.variances.sum()


def believed(mixture: GaussianMixture, secrets: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Posteriors by Bayes' rule, every density written out."""
    signals = np.asarray(mixture.signals) / mixture.scale
    away = signals[secrets][:, None, :] + noise[:, None, :] - signals[None, :, :]
    density = mixture.weights * np.exp(-np.sum(away**2, axis=2) / 2)
    return density / density.sum(axis=1, keepdims=True)


class Search:
    """Stands for the search for a scale: notes what it is asked, and answers as it was told."""

    def __init__(self, *answers: float) -> None:
        self.answers = [*answers]
        self.ratios: list[Callable[[float], float]] = []
        self.options: list[dict[str, float]] = []

    def __call__(self, log_ratio: Callable[[float], float], **options: float) -> float:
        self.ratios.append(log_ratio)
        self.options.append(options)
        return self.answers[len(self.ratios) - 1]


class TestScale:
    """What the search makes zero is the logarithm of an expected certificate over the cap."""

    support = Support(
        np.random.default_rng(5).standard_normal((32, 3)) * [3.0, 1.0, 0.5],
        np.random.default_rng(6).dirichlet(np.full(32, 4.0)),
    )
    turn = np.linalg.qr(np.random.default_rng(7).standard_normal((3, 3)))[0]
    covariance = turn * [9.0, 4.0, 1.0] @ turn.T
    shape = NoiseShape(*np.linalg.eigh(covariance)[::-1])

    def mixture(self, log_factor: float) -> GaussianMixture:
        coordinates = self.support.span(IdentityMetric()).coordinates
        deviations = np.sqrt(self.shape.variances * np.exp(log_factor))
        return GaussianMixture(coordinates @ self.shape.axes / deviations, self.support.weights)

    def draws(self, n: int, *labels: str) -> tuple[np.ndarray, np.ndarray]:
        blocks = list(self.mixture(0.0).draws(n, lattice.generator_for(self.support, *labels)))
        secrets = np.concatenate([block.secrets for block in blocks])
        return secrets, np.concatenate([block.noise for block in blocks])

    @pytest.mark.parametrize("n_certificate", [2048, 2**15])
    def test_of_an_information(self, n_certificate: int, monkeypatch: pytest.MonkeyPatch) -> None:
        search, chosen, shape = Search(0.25), [], self.shape
        monkeypatch.setattr(residual, "least_log_factor", search)
        monkeypatch.setattr(residual, "residual_covariance", lambda *_, **__: shape)
        monkeypatch.setattr(residual, "certified_law", lambda *given: chosen.append(given[3]))
        backend = ResidualBackend(gamma=1e-3, n_certificate=n_certificate)
        gaussian = LogdetBackend().calibrate(self.support, Target(0.1), IdentityMetric())
        assert backend.calibrate(self.support, Target(0.1), IdentityMetric()).backend == "logdet"
        np.testing.assert_allclose(chosen[0].variances, self.shape.variances * np.exp(0.251))
        farthest = pytest.approx(np.log(gaussian.noise_power / 14.0), rel=1e-12)
        assert search.options == [{"slope": 1.0, "tolerance": 2e-3, "farthest": farthest}]
        draws = self.draws(min(n_certificate, 2**14), "residual", "room")
        for log_factor in (-1.0, 0.0, 0.7):
            posterior = believed(self.mixture(log_factor), *draws)
            learned = self.support.entropy + np.sum(posterior * np.log(posterior), axis=1)
            margin = np.sqrt(2 * learned.var() * np.log(4 / 1e-3) / n_certificate)
            expected = np.log((learned.mean() + margin) / 0.1)
            assert search.ratios[0](log_factor) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        # Nothing to look for where the shape needs no less than what is there anyway.
        shape = self.shape.scaled(gaussian.noise_power / 14.0 * (1 + 1e-12))
        assert backend.calibrate(self.support, Target(0.1), IdentityMetric()).backend == "logdet"
        assert len(search.ratios) == len(chosen) == 1

    @pytest.mark.parametrize("name", ["membership", "identification"])
    def test_of_a_success(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        wanted = MembershipCriterion(SPACE) if name == "membership" else identification(SPACE)
        # Shapes that know nothing of the criterion are far too small; then this one is best.
        search, watched = Search(9.0, 9.0, 0.0, 0.25, 0.5), []

        def noted(mixture, asked, blocks, targets):
            watched.append(targets)
            return success_sums(mixture, asked, blocks, targets)

        monkeypatch.setattr(criterion, "least_log_factor", search)
        monkeypatch.setattr(criterion, "success_sums", noted)
        monkeypatch.setattr(criterion, "minimum_trace_cover", lambda *_, **__: self.covariance)
        span = self.support.span(IdentityMetric())
        blind = float(wanted.prior(self.support.weights).max())
        backend = CriterionBackend(gamma=1e-3, n_draws=2400, n_certificate=2048)
        chosen = backend.shape(self.support, span, wanted, blind + 0.2)
        rounds = 2 if name == "membership" else 1
        np.testing.assert_allclose(
            chosen.variances, self.shape.variances * np.exp([0.25, 0.75][rounds - 1])
        )
        assert search.options == [{"slope": 0.5, "tolerance": 4e-3}] * (3 + rounds)
        first = self.first_order(wanted, span.coordinates)
        # By success alone, from a quarter of the draws.
        draws = self.draws(600, "criterion", "shape")
        success = wanted.success(believed(self.mixture(1.0), *draws))[:, first]
        expected = np.log((success.mean(axis=0).max() - blind) / 0.2)
        assert search.ratios[2](1.0) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert sorted(watched[-1]) == first
        # With the margin of a certificate.
        draws, seen = self.draws(2400, "criterion", "shape"), set(first)
        for ratio, base in zip(search.ratios[3:], (0.0, 0.25), strict=False):
            if rounds == 2:
                at_start = believed(self.mixture(base), *draws) @ wanted.sets().T
                seen |= set(np.argsort(np.mean((at_start - 0.5) ** 2, axis=0))[-128:])
            for step in (-0.5, 0.0, 1.0):
                success = wanted.success(believed(self.mixture(base + step), *draws))
                found = ratio(step)
                here = sorted(watched[-1])
                assert here == sorted(first if rounds == 1 else self.about(here, seen))
                success = success[:, here]
                log_term = np.log(12 * wanted.distinct.size / 1e-3)
                again = second_look(32, 2048, len(here))
                bound = success.mean(axis=0) + np.sqrt(2 * success.var(axis=0) * log_term / again)
                bound += 7 * log_term * (1 - wanted.lowest) / (3 * again)
                expected = np.log((bound.max() - blind) / 0.2)
                assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)

    def first_order(self, wanted, coordinates: np.ndarray) -> list[int]:
        if wanted.n_targets == 1:
            return [0]
        halves = wanted.sets() @ (coordinates * self.support.weights[:, None])
        visible = np.sum((halves @ self.shape.axes) ** 2 / self.shape.variances, axis=1)
        return sorted(wanted.distinct[np.argsort(visible[wanted.distinct])[-128:]])

    @staticmethod
    def about(here: list[int], seen: set[int]) -> list[int]:
        """By second moments about the prior and about a half: the same up to the draws' mean."""
        assert len(seen.symmetric_difference(here)) <= 4
        return here


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ResidualBackend(gamma=0), "gamma"),
        (lambda: ResidualBackend(n_draws=10), "n_draws"),
        (lambda: CriterionBackend(gamma=2), "gamma"),
        (lambda: CriterionBackend(n_certificate=1), "n_certificate"),
    ],
)
def test_bad_parameters(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_laws_without_information_bound_it_themselves(means: Support) -> None:
    law = LogdetBackend().calibrate(means, Target(0.1), IdentityMetric())
    assert law.information is None
    assert replace(law, information=0.2).information == 0.2
