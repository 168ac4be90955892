"""Secrets drawn from all balanced subsets: attacks that know some rows, and the certificate.

Seeds are fixed, so nothing flakes; error rates are stated for other seeds.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from pacsklearn.kernel.bounds.known_rows import known_rows_success
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.sampled.confident import SampledLaw, confident_law
from pacsklearn.sampled.drawn_subsets import DrawnSubsets
from pacsklearn.sampled.sampled_subsets import SampledSubsets
from pacsklearn.secrets import balanced_space
from pacsklearn.universe.design import Design

N_ROWS, KNOWN, BUDGET = 40, 7, 1 / 4
TABLE = np.random.default_rng(5).standard_normal((N_ROWS, 2)) ** 3


@cache
def many_of(blocks: int | None) -> tuple[DrawnSubsets, np.ndarray, np.ndarray]:
    """How subsets are drawn, 30,000 of them, and the mean of each: nothing changes them."""
    drawn = DrawnSubsets.of(Design(blocks=blocks), SampledSubsets(), TABLE)
    many = np.stack([drawn.trial(1000 + i) for i in range(30_000)])
    return drawn, many, np.stack([mean_of(one) for one in many])


def law_of(drawn: DrawnSubsets) -> SampledLaw:
    values = np.stack([mean_of(drawn.trial(i)) for i in range(500)])
    return confident_law(values[:100], values[100:], Target(BUDGET))


def mean_of(members: np.ndarray) -> np.ndarray:
    return TABLE[members].mean(axis=0)


def test_the_attack_that_knows_seven_rows_reads_nothing_off_a_list() -> None:
    """Without any release: on the public list of 128 subsets it is right five times in six."""
    generator = np.random.default_rng(0)
    space = balanced_space(N_ROWS, n_subsets=128)
    members = space.membership()
    drawn = DrawnSubsets.of(Design(), SampledSubsets(), TABLE)
    sampler = SeededSampler(np.random.default_rng(1))
    right = {"listed": 0, "sampled": 0}
    rounds = 2000
    for _ in range(rounds):
        order = generator.permutation(N_ROWS)
        known, target = order[:KNOWN], order[KNOWN]
        truth = members[:, generator.integers(128)]
        fits = (members[known] == truth[known, None]).all(axis=0)
        right["listed"] += (members[target, fits].mean() >= 0.5) == truth[target]
        truth = drawn.draw(sampler)
        # Of n rows half are in: the best guess is what the known ones leave over.
        right["sampled"] += ((N_ROWS / 2 - truth[known].sum()) / (N_ROWS - KNOWN) >= 0.5) == truth[
            target
        ]
    error = 4 * 0.5 / np.sqrt(rounds)  # one false alarm in 15,000
    blind = drawn.known[KNOWN][0]
    assert right["listed"] / rounds > 0.75
    assert blind < 0.55
    assert abs(right["sampled"] / rounds - blind) < error
    uniform, _, _ = known_rows_success(members, space.weights)
    assert abs(right["listed"] / rounds - uniform[KNOWN]) < error + 0.02


@pytest.mark.parametrize(
    ("k", "blocks"),
    [
        (7, None),
        *(
            pytest.param(k, blocks, marks=pytest.mark.soak)
            for k, blocks in ((0, None), (3, None), (5, 8))
        ),
    ],
)
def test_the_likeliest_answer_after_the_release_stays_below_the_bound(
    k: int, blocks: int | None
) -> None:
    """The posterior over 30,000 subsets by the released integers, knowing k memberships."""
    drawn, many, means = many_of(blocks)
    law, sampler = law_of(drawn), SeededSampler(np.random.default_rng(2))
    points = np.stack([law.point(mean) for mean in means])
    # The row that is told best, knowing those of its block, or of its class, that tell next best.
    order = np.argsort(-np.abs(TABLE[:, 0]))
    target = order[drawn.strata[order] == drawn.strata.max()][0]
    known = order[(drawn.strata[order] == drawn.strata[target]) & (order != target)][:k]
    right, rounds = 0, 300
    for _ in range(rounds):
        secret = drawn.draw(sampler)
        observed = law.point(mean_of(secret)) + sampler.noise(law.dimension)
        likely = (many[:, known] == secret[known]).all(axis=1)
        logs = -(((observed - points[likely]) / law.scale) ** 2).sum(axis=1) / 2
        belief = np.exp(logs - logs.max())
        right += (belief @ many[likely, target] >= belief.sum() / 2) == secret[target]
    blind = drawn.known[k][1]
    bound, error = posterior_success(BUDGET, blind), 4 * 0.5 / np.sqrt(rounds)
    assert right / rounds <= bound + error
    assert right / rounds > blind + 0.02  # the attack is one: the release tells it something


@pytest.mark.soak
def test_the_certificate_holds_on_fresh_subsets_and_the_noise_is_what_it_says() -> None:
    drawn = DrawnSubsets.of(Design(), SampledSubsets(), TABLE)
    law, sampler = law_of(drawn), SeededSampler(np.random.default_rng(3))
    distances, away = [], []
    for _ in range(20_000):
        value = mean_of(drawn.draw(sampler))
        distances.append(law.span.distance(law.span.coordinates(value)))
        away.append(sampler.noise(law.dimension) / law.scale)
    # The certified mean is one that 20,000 fresh secrets do not reach.
    assert np.mean(distances) < law.mean_distance
    assert np.std(away) == pytest.approx(1, abs=5 / np.sqrt(2 * 20_000 * law.dimension))
