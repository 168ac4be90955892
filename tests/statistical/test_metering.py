"""What a session's meter says, against the mutual information of whole transcripts.

Nothing is sampled: the noise is a discrete Gaussian of a small parameter, and every sequence of
released integers is visited, with the adversary choosing each query from what came before. The
bound holds for any parameter, because shifting a discrete Gaussian by an integer a diverges by
exactly a^2 / (2 sigma^2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.kernel.answers.label_oracle import LabelLaw, label_law, log_gains, log_gains_exact
from tests.kernel.answers.value_oracle import value_law

pytestmark = pytest.mark.statistical

Floats = NDArray[np.float64]
M = 4
PRIORS = {
    "uniform": np.full(M, 1 / M),
    "skewed": np.array([0.7, 0.2, 0.07, 0.03]),
    "certain": np.array([0.985, 0.01, 0.004, 0.001]),
}


@cache
def normaliser(sigma: int) -> float:
    points = np.arange(-40 * sigma, 40 * sigma + 1)
    return math.fsum(np.exp(-(points**2) / (2.0 * sigma**2)))


def density(points: NDArray[np.int64], sigma: int) -> Floats:
    return np.asarray(np.exp(-(points**2) / (2.0 * sigma**2)) / normaliser(sigma))


@dataclass
class Row:
    """One step as the test sees it: each candidate's centre, or its exact answer."""

    charge: float
    centres: list[tuple[int, ...]]
    exact: list[int]
    sigma: int

    def outcomes(self) -> tuple[list[Any], Floats]:
        """Everything that may be released, and its probability under each candidate, (w, m)."""
        width = len(self.centres[0])
        if width == 0:
            values = sorted(set(self.exact))
            return values, np.array([[float(v == own) for own in self.exact] for v in values])
        axes, shares = [], []
        for coordinate in np.array(self.centres).T:
            reach = 8 * self.sigma  # what lies beyond has probability below 1e-14
            points = np.arange(coordinate.min() - reach, coordinate.max() + reach + 1)
            axes.append(points.tolist())
            shares.append(density(points[:, None] - coordinate, self.sigma))
        likelihood = shares[0]
        for share in shares[1:]:
            likelihood = (likelihood[:, None] * share).reshape(-1, M)
        return list(product(*axes)), likelihood


@dataclass
class Meter:
    """Sums over all transcripts."""

    prior: Floats
    information: float = 0.0
    expected: float = 0.0
    largest: float = 0.0
    transcripts: int = 0
    stopped: float = 0.0
    beliefs: list[float] = field(default_factory=list)

    def close(self, joint: Floats, spent: float) -> None:
        """Count transcripts that end here; ``joint`` is p(s) P(transcript | s), (m,) or (w, m)."""
        joint = np.atleast_2d(joint)
        total = joint.sum(axis=1, keepdims=True)
        ratio = np.where(joint > 0, joint / np.where(total > 0, total, 1) / self.prior, 1.0)
        self.information += math.fsum((joint * np.log(ratio)).ravel())
        self.expected += spent * math.fsum(total.ravel())
        self.largest = max(self.largest, spent)
        self.transcripts += joint.shape[0]


Adversary = Callable[[int, Floats, tuple[Any, ...]], Any]
Calibrate = Callable[[Any, Floats, float, int], tuple[Row, Any]]


def label_row(codes: Any, belief: Floats, budget: float, sigma: int) -> tuple[Row, LabelLaw]:
    law = label_law(codes, belief.tolist(), budget, sigma)
    place = {label: k for k, label in enumerate(law.masses.labels)}
    exact = [place.get(code, -1) for code in codes]
    return Row(law.charge, [law.centre(code) for code in codes], exact, sigma), law


def value_row(values: Any, belief: Floats, budget: float, sigma: int) -> tuple[Row, Any]:
    law = value_law(values, belief.tolist(), budget, sigma)
    return Row(law.charge, [tuple(own) for own in law.centres], law.groups, sigma), law


def learn(law: Any, row: Row, codes: Any, belief: Floats, released: Any) -> Floats:
    """The implementation's belief after one release."""
    if isinstance(law, LabelLaw):
        width = len(law.centres)
        gains = (
            log_gains(law, released) if width else log_gains_exact(law, law.masses.labels[released])
        )
        gain = dict(zip(law.masses.labels, gains, strict=True))
        return np.array([b + gain.get(c, 0.0) for b, c in zip(belief, codes, strict=True)])
    if law.noisy:
        moved = belief + law.log_likelihoods(released)
    else:
        moved = np.where(np.array(row.exact) == released, belief, -np.inf)
    return np.asarray(moved - np.logaddexp.reduce(moved))


def visit(
    meter: Meter,
    calibrate: Calibrate,
    adversary: Adversary,
    budget: float,
    ceiling: float,
    sigma: int,
    depth: int,
    joint: Floats,
    belief: Floats,
    history: tuple[Any, ...] = (),
    spent: float = 0.0,
) -> None:
    if len(history) == depth:
        meter.close(joint, spent)
        return
    query = adversary(len(history), belief, history)
    row, law = calibrate(query, belief, budget, sigma)
    assert row.charge <= budget
    if spent + row.charge > ceiling:
        meter.stopped += float(joint.sum())
        meter.close(joint, spent)
        return
    released, likelihood = row.outcomes()
    if len(history) == depth - 1:
        meter.close(joint * likelihood, spent + row.charge)
        return
    for value, chance in zip(released, likelihood, strict=True):
        after = joint * chance
        if after.sum() < 1e-16:
            continue
        learned = learn(law, row, query, belief, value)
        meter.beliefs.append(float(np.max(np.abs(np.exp(learned) - after / after.sum()))))
        visit(
            meter, calibrate, adversary, budget, ceiling, sigma, depth, after, learned,
            (*history, (query, value)), spent + row.charge,
        )  # fmt: skip


def partitions(most: int) -> list[tuple[int, ...]]:
    """All ways in which four candidates can disagree, with at most this many labels."""
    return [
        codes
        for codes in product(range(most), repeat=M)
        if codes[0] == 0
        and max(codes) > 0
        and all(codes[i] <= max(codes[:i]) + 1 for i in range(1, M))
    ]


def entropy(masses: Floats) -> float:
    masses = masses[masses > 0]
    return float(-np.sum(masses * np.log(masses)))


def halving(step: int, belief: Floats, history: tuple[Any, ...]) -> tuple[int, ...]:
    """The split in two that the belief makes most uncertain."""
    p = np.exp(belief)
    return max(partitions(2), key=lambda codes: entropy(np.bincount(codes, weights=p)))


def finest(step: int, belief: Floats, history: tuple[Any, ...]) -> tuple[int, ...]:
    """Three labels at the end, where all outcomes of three coordinates can be summed at once."""
    if step == 0:
        return halving(step, belief, history)
    p = np.exp(belief)
    return max(
        (codes for codes in partitions(3) if max(codes) == 2),
        key=lambda codes: entropy(np.bincount(codes, weights=p, minlength=3)),
    )


def stubborn(step: int, belief: Floats, history: tuple[Any, ...]) -> tuple[int, ...]:
    return (0, 1, 1, 1)


def hunter(step: int, belief: Floats, history: tuple[Any, ...]) -> tuple[int, ...]:
    """Goes for the candidates that the last release made more likely, the unlikely ones first."""
    if not history:
        return (0, 0, 1, 1)
    _, value = history[-1]
    high = value if isinstance(value, int) else value[0] > 0
    return (0, 0, 0, 1) if high else (0, 1, 0, 1)


def greedy(calibrate: Calibrate, budget: float, sigma: int) -> Adversary:
    """The query on which the meter looks most likely to be wrong, by one-step computation."""

    def choose(step: int, belief: Floats, history: tuple[Any, ...]) -> tuple[int, ...]:
        p = np.exp(belief)

        def gap(codes: tuple[int, ...]) -> float:
            row, _ = calibrate(codes, belief, budget, sigma)
            meter = Meter(np.maximum(p, 1e-300))
            meter.close(p * row.outcomes()[1], row.charge)
            return meter.information / max(row.charge, 1e-300)

        return max(partitions(2), key=gap)

    return choose


def run(
    calibrate: Calibrate,
    adversary: Adversary,
    prior: str,
    budget: float,
    sigma: int,
    depth: int,
    ceiling: float = math.inf,
) -> Meter:
    meter = Meter(PRIORS[prior])
    visit(
        meter, calibrate, adversary, budget, ceiling, sigma, depth,
        meter.prior, np.log(meter.prior),
    )  # fmt: skip
    if meter.beliefs:
        assert max(meter.beliefs) < 1e-9, "the meter's belief is the adversary's"
    # Tails cut off at eight sigma and the rounding of millions of terms stay below 1e-9.
    assert meter.information <= meter.expected + 1e-9
    assert meter.expected <= depth * budget * (1 + 1e-9)
    assert meter.largest <= ceiling
    return meter


@pytest.mark.product
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("budget", [2.0**-5, 0.05, 0.3, 0.9])
@pytest.mark.parametrize("adversary", [halving, stubborn, hunter])
def test_three_adaptive_label_queries(adversary: Adversary, prior: str, budget: float) -> None:
    meter = run(label_row, adversary, prior, budget, sigma=3, depth=3)
    assert meter.expected == 0 or meter.transcripts > 1


@pytest.mark.product(only=1)
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("budget", [0.01, 0.3, 0.9])
def test_three_labels(prior: str, budget: float) -> None:
    run(label_row, finest, prior, budget, sigma=2, depth=2)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("budget", [0.02, 0.3])
def test_two_queries_chosen_to_embarrass_the_meter(prior: str, budget: float) -> None:
    run(label_row, greedy(label_row, budget, 4), prior, budget, sigma=4, depth=2)


@pytest.mark.soak
def test_the_meter_is_sharp_when_little_is_spent() -> None:
    meter = run(label_row, halving, "uniform", 1.01 * 2.0**-9, sigma=64, depth=2)
    assert meter.information > 0.97 * meter.expected, "so a meter 3 % too low would be caught"


@pytest.mark.product
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("share", [0.5, 1.5, 2.2])
def test_no_transcript_passes_the_ceiling(prior: str, share: float) -> None:
    budget = 0.1
    meter = run(label_row, halving, prior, budget, sigma=3, depth=3, ceiling=share * budget)
    assert meter.largest <= share * budget
    if prior == "uniform" and share < 2:
        assert meter.stopped > 0.5


@pytest.mark.product
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("budget", [0.02, 0.3, 0.9])
def test_values(prior: str, budget: float) -> None:
    def adversary(step: int, belief: Floats, history: tuple[Any, ...]) -> Any:
        if step == 0:
            return [[0.0], [1.0], [1.0], [3.5]]
        away = history[-1][1] if isinstance(history[-1][1], int) else history[-1][1][0]
        if away > 2:
            return [[0.25, 1.0], [0.25, 0.0], [0.75, 0.1], [0.25, 5.0]]
        return [[0.0, 1.0], [0.3, 1.0], [0.0, 1.0], [-1.0, 1.0]]

    run(value_row, adversary, prior, budget, sigma=4, depth=2)
