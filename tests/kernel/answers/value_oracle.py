"""Private real-valued responses by definition: plain Python, one row at a time.

:mod:`pacsklearn.kernel.answers.value_engine` is the fast version; for the same noise both give the
same answers. Sums are written as loops because ``sum`` compensates on newer Pythons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from pacsklearn.kernel.answers.engine import StepAnswers
from pacsklearn.kernel.answers.value_engine import LARGEST_OFFSET, TINIEST_STEP
from pacsklearn.kernel.bounds.rounding import OUTWARD
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE
from tests.kernel.answers.label_oracle import INF, label_masses

__all__ = ["ValueLaw", "answer_values", "value_law"]


Row = Sequence[Sequence[float]]


@final
@dataclass(frozen=True)
class ValueLaw:
    """What is released for one row; a function of values and belief, never of the secret.

    Parameters
    ----------
    charge : float
        Proved bound in nats.
    groups : list of int
        Number of each candidate's answer among the distinct ones.
    noisy : list of int
        Coordinates with noise; none when the answer is exact.
    means, steps : list of float
        Answer at integer zero, and grid step, of each noisy coordinate.
    centres : list of list of int
        Integer output of every candidate.
    scale : int
        Parameter of the discrete Gaussian.
    """

    charge: float
    groups: list[int]
    noisy: list[int]
    means: list[float]
    steps: list[float]
    centres: list[list[int]]
    scale: int

    def log_likelihoods(self, observed: Sequence[int]) -> list[float]:
        """Log-density of the released integers under each candidate, up to a constant."""
        result = []
        for own in self.centres:
            total = 0.0
            for w, z in zip(observed, own, strict=True):
                distance = (w - z) / self.scale
                total += distance * distance
            result.append(-0.5 * total)
        return result


def value_law(
    rows: Row, log_belief: Sequence[float], step_budget: float, scale: int = LATTICE_SCALE
) -> ValueLaw:
    """Calibrate one row: ``diagonal`` (Efficient-PAC) over the coordinates that differ."""
    alive = [i for i, log in enumerate(log_belief) if log > -INF]
    first = rows[alive[0]]
    noisy = [j for j, x in enumerate(first) if any(rows[i][j] != x for i in alive)]
    groups = _groups(rows, log_belief)
    masses = label_masses(groups, log_belief)
    entropy = masses.entropy if len(masses.labels) > 1 else 0.0
    if entropy <= step_budget:
        return ValueLaw(entropy, groups, [], [], [], [[] for _ in rows], scale)
    weights = _weights(log_belief)
    heaviest = weights.index(max(weights))
    means, spreads, reaches, total = [], [], [], 0.0
    for j in noisy:
        mean, spread, reach = _moments([row[j] for row in rows], weights, log_belief, heaviest)
        means.append(mean)
        spreads.append(spread)
        reaches.append(reach)
        total += spread
    enlarged, least_growth = 1.0, 1e-12
    while True:
        common = math.sqrt(total / (2.0 * step_budget) * enlarged) / scale
        steps = [
            max(math.sqrt(spread) * common, reach / LARGEST_OFFSET, TINIEST_STEP)
            for spread, reach in zip(spreads, reaches, strict=True)
        ]
        centres = [
            [
                round((row[j] - mean) / step) if log > -INF else 0
                for j, mean, step in zip(noisy, means, steps, strict=True)
            ]
            for row, log in zip(rows, log_belief, strict=True)
        ]
        charge = _bound(centres, weights, len(noisy)) / (2.0 * scale * scale) * OUTWARD
        if charge <= step_budget:
            return ValueLaw(charge, groups, noisy, means, steps, centres, scale)
        # Rounding moved the bound by a hair; the growth ends at centres of zero at the latest.
        enlarged *= charge / step_budget * (1.0 + least_growth)
        least_growth *= 10.0


def _groups(rows: Row, log_belief: Sequence[float]) -> list[int]:
    numbers: dict[tuple[float, ...], int] = {}
    return [
        numbers.setdefault(tuple(row), len(numbers)) if log > -INF else -1
        for row, log in zip(rows, log_belief, strict=True)
    ]


def _weights(log_belief: Sequence[float]) -> list[float]:
    peak, total = max(log_belief), 0.0
    for log in log_belief:
        total += math.exp(log - peak)
    return [math.exp(log - peak) / total for log in log_belief]


def _moments(
    column: Sequence[float], weights: Sequence[float], log_belief: Sequence[float], heaviest: int
) -> tuple[float, float, float]:
    """Mean, standard deviation and largest distance from the mean."""
    anchor, shift = column[heaviest], 0.0
    for x, p, log in zip(column, weights, log_belief, strict=True):
        if log > -INF:
            shift += p * (x - anchor)
    mean, reach, square = anchor + shift, 0.0, 0.0
    for x, log in zip(column, log_belief, strict=True):
        if log > -INF:
            reach = max(reach, abs(x - mean))
    for x, p, log in zip(column, weights, log_belief, strict=True):
        if log > -INF:
            share = (x - mean) / reach
            square += p * share * share
    return mean, reach * math.sqrt(square), reach


def _bound(centres: list[list[int]], weights: Sequence[float], count: int) -> float:
    """Mean squared distance from the integer vector nearest the mean."""
    bound = 0.0
    for k in range(count):
        mean = 0.0
        for own, p in zip(centres, weights, strict=True):
            mean += p * own[k]
        nearest, square = round(mean), 0.0
        for own, p in zip(centres, weights, strict=True):
            distance = float(own[k] - nearest)
            square += p * distance * distance
        bound += square
    return bound


def answer_values(
    values: ArrayLike,
    secret: int,
    log_belief: ArrayLike,
    step_budget: float,
    noise: ArrayLike,
    *,
    scale: int = LATTICE_SCALE,
) -> StepAnswers:
    """Reference for :class:`pacsklearn.kernel.answers.value_engine.ValueEngine`."""
    table = np.asarray(values, dtype=np.float64)
    belief = np.asarray(log_belief, dtype=np.float64).tolist()
    draws = np.asarray(noise).tolist()
    answers: list[list[float]] = []
    deviations: list[list[float]] = []
    charges: list[float] = []
    used = 0
    for rows in table.tolist():
        law = value_law(rows, belief, step_budget, scale)
        count = len(law.noisy)
        if used + count > len(draws):
            break
        # The first candidate with this answer speaks for all: -0.0 must not tell them apart.
        answer = [x + 0.0 for x in rows[law.groups.index(law.groups[secret])]]
        own = zip(law.centres[secret], draws[used : used + count], strict=True)
        observed = [z + x for z, x in own]
        used += count
        deviation = [0.0] * len(answer)
        for j, w, mean, size in zip(law.noisy, observed, law.means, law.steps, strict=True):
            answer[j] = mean + w * size
            deviation[j] = scale * size
        if count:
            belief = _normalised(belief, law.log_likelihoods(observed))
        elif max(law.groups) > 0:
            same = law.groups[secret]
            gains = [0.0 if group == same else -INF for group in law.groups]
            belief = _normalised(belief, gains)
        answers.append(answer)
        deviations.append(deviation)
        charges.append(law.charge)
    return StepAnswers(
        answers=np.array(answers).reshape(-1, table.shape[2]),
        deviations=np.array(deviations).reshape(-1, table.shape[2]),
        charges=np.array(charges),
        margins=np.full(len(charges), np.nan),
        log_belief=np.array(belief),
        noise_used=used,
    )


def _normalised(belief: Sequence[float], gains: Sequence[float]) -> list[float]:
    moved = [log + gain for log, gain in zip(belief, gains, strict=True)]
    best = moved.index(max(moved))
    rest = 0.0
    for i, log in enumerate(moved):
        if i != best:
            rest += math.exp(log - moved[best])
    shift = math.log1p(rest)
    return [(log - moved[best]) - shift for log in moved]
