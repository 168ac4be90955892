"""Private labels by definition: what the compiled engine is held to.

Plain Python, one row at a time; :mod:`pacsklearn.kernel.answers.label_engine` is the fast version,
for the same noise with the same answers. Sums are written as loops because ``sum`` compensates on
newer Pythons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike

from pacsklearn.kernel.answers.engine import StepAnswers
from pacsklearn.kernel.answers.label_engine import LARGEST_CENTRE
from pacsklearn.kernel.bounds.rounding import OUTWARD
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE

INF: Final = math.inf


@final
@dataclass(frozen=True)
class Masses:
    """Posterior masses of the distinct labels, and the log of the belief's total before."""

    labels: tuple[int, ...]
    logs: tuple[float, ...]
    best: int
    log_total: float

    @property
    def entropy(self) -> float:
        """Nats, rounded outwards; what an exact answer reveals."""
        value = 0.0
        for log_mass in self.logs:
            value -= math.exp(log_mass) * log_mass
        return value * OUTWARD


@final
@dataclass(frozen=True)
class LabelLaw:
    """What is released for one row; a function of codes and belief, never of the secret.

    Parameters
    ----------
    masses : Masses
        Distinct labels in increasing order.
    charge : float
        Proved bound in nats.
    centres : tuple of int
        One a coordinate: none when the answer is exact; with two labels the centre of the larger
        one, the other being at zero; with more, that of each label in its own coordinate.
    units : tuple of float
        What a grid step of each coordinate is worth in the response vector.
    scale : int
        Parameter of the discrete Gaussian.
    """

    masses: Masses
    charge: float
    centres: tuple[int, ...] = ()
    units: tuple[float, ...] = ()
    scale: int = LATTICE_SCALE

    def centre(self, label: int) -> tuple[int, ...]:
        """Integer output of a candidate with this label; empty when there is no noise."""
        if not self.centres:
            return ()
        labels = self.masses.labels
        own = labels[1:] if len(labels) == 2 else labels
        return tuple(a if label == owner else 0 for a, owner in zip(self.centres, own, strict=True))


def label_masses(codes: Sequence[int], log_belief: Sequence[float]) -> Masses:
    """Masses of the labels of all candidates that are still possible."""
    alive = [(code, log) for code, log in zip(codes, log_belief, strict=True) if log > -INF]
    labels = tuple(sorted({code for code, _ in alive}))
    logs = []
    for label in labels:
        own = [log for code, log in alive if code == label]
        peak, total = max(own), 0.0
        for log in own:
            total += math.exp(log - peak)
        logs.append(peak + math.log(total))
    top = max(logs)
    best, rest = logs.index(top), 0.0
    for index, log in enumerate(logs):
        if index != best:
            rest += math.exp(log - top)
    shift = math.log1p(rest)
    return Masses(labels, tuple((log - top) - shift for log in logs), best, top + shift)


def label_law(
    codes: Sequence[int],
    log_belief: Sequence[float],
    step_budget: float,
    scale: int = LATTICE_SCALE,
) -> LabelLaw:
    """Calibrate one row (pac-private-responses, Algorithm 1, over distinct labels)."""
    masses = label_masses(codes, log_belief)
    if len(masses.labels) == 1:
        return LabelLaw(masses, 0.0, scale=scale)
    entropy = masses.entropy
    if entropy <= step_budget:
        return LabelLaw(masses, entropy, scale=scale)
    if len(masses.labels) == 2:
        return _two_labels(masses, step_budget, scale)
    return _many_labels(masses, step_budget, scale)


def _two_labels(masses: Masses, budget: float, scale: int) -> LabelLaw:
    log_variance = masses.logs[0] + masses.logs[1]
    variance, minor = math.exp(log_variance), math.exp(min(masses.logs))
    root = math.exp(0.5 * (math.log(2.0 * budget) - log_variance))
    # One more than the formula gives, for its own rounding; the bound decides.
    centre = math.floor(scale * root) + 1
    while True:
        charge = _bound(variance, minor, centre) / (2.0 * scale * scale) * OUTWARD
        if charge <= budget:
            return LabelLaw(masses, charge, (centre,), (), scale)
        centre -= 1


def _many_labels(masses: Masses, budget: float, scale: int) -> LabelLaw:
    logs = masses.logs
    rest = 0.0
    for index, log in enumerate(logs):
        if index != masses.best:
            rest += math.exp(log)
    roots, spread = [], 0.0
    for index, log in enumerate(logs):
        other = math.log(rest) if index == masses.best else math.log1p(-math.exp(log))
        roots.append(0.5 * (log + other))
        spread += math.exp(roots[-1])
    # Logarithm of sqrt(e_i), e_i = sqrt(v_i) sum_j sqrt(v_j) / (2 b).
    deviations = [0.5 * (root + math.log(spread) - math.log(2.0 * budget)) for root in roots]
    highest = math.log(LARGEST_CENTRE / scale)
    centres = [
        math.floor(scale * math.exp(-deviation)) if -deviation < highest else LARGEST_CENTRE
        for deviation in deviations
    ]
    while True:
        bound = 0.0
        for log, root, centre in zip(logs, roots, centres, strict=True):
            # Distance from an integer is the same for q and 1 - q; the smaller one is precise.
            minor = math.exp(log) if log < -0.6931471805599453 else rest
            bound += _bound(math.exp(2.0 * root), minor, centre)
        charge = bound / (2.0 * scale * scale) * OUTWARD
        if charge <= budget:
            break
        shrink = math.sqrt(budget / charge) * (1.0 - 1e-12)
        centres = [math.floor(centre * shrink) for centre in centres]
    units = tuple(
        1.0 / centre if centre > 0 else math.exp(deviation) / scale
        for centre, deviation in zip(centres, deviations, strict=True)
    )
    return LabelLaw(masses, charge, tuple(centres), units, scale)


def _bound(variance: float, minor: float, centre: int) -> float:
    """Mean squared distance of a coordinate from the integer nearest its mean."""
    offset = minor * centre - round(minor * centre)
    return variance * centre * centre + offset * offset


def answer_labels(
    codes: ArrayLike,
    secret: int,
    log_belief: ArrayLike,
    step_budget: float,
    noise: ArrayLike,
    *,
    scale: int = LATTICE_SCALE,
) -> StepAnswers:
    """Reference for :class:`pacsklearn.kernel.answers.label_engine.LabelEngine`."""
    table = np.asarray(codes)
    belief = np.asarray(log_belief, dtype=np.float64).tolist()
    draws = np.asarray(noise).tolist()
    answers: list[int] = []
    charges: list[float] = []
    margins: list[float] = []
    used = 0
    for row in table.tolist():
        law = label_law(row, belief, step_budget, scale)
        count = len(law.centres)
        if used + count > len(draws):
            break
        answer, margin = row[secret], INF
        if count:
            centre = law.centre(answer)
            observed = [z + x for z, x in zip(centre, draws[used : used + count], strict=True)]
            used += count
            answer, margin = decode(law, observed)
            gains = log_gains(law, observed)
        else:
            gains = log_gains_exact(law, answer)
        if len(law.masses.labels) > 1:
            gain = dict(zip(law.masses.labels, gains, strict=True))
            belief = [
                log + gain[code] if log > -INF else -INF
                for code, log in zip(row, belief, strict=True)
            ]
        answers.append(answer)
        charges.append(law.charge)
        margins.append(margin)
    return StepAnswers(
        answers=np.array(answers, dtype=table.dtype),
        charges=np.array(charges),
        margins=np.array(margins),
        log_belief=np.array(belief),
        noise_used=used,
        deviations=np.zeros(len(answers)),
    )


def decode(law: LabelLaw, observed: Sequence[int]) -> tuple[int, float]:
    """Label answered and its margin (Proposition 5.1) for the released integers."""
    labels = law.masses.labels
    if len(labels) == 2:
        (w,), (a,) = observed, law.centres
        upper = 2 * w > a
        margin = (w if upper else a - w) / law.scale if a > 0 else -INF
        return labels[int(upper)], margin
    scores = [w * unit for w, unit in zip(observed, law.units, strict=True)]
    y = scores.index(max(scores))
    margin = INF
    for j, (w, a) in enumerate(zip(observed, law.centres, strict=True)):
        if j != y:
            margin = min(margin, _statistic(law, observed[y], law.centres[y], w, a))
    return labels[y], margin


def _statistic(law: LabelLaw, w_y: int, a_y: int, w_j: int, a_j: int) -> float:
    if a_y == 0 and a_j == 0:
        return -INF
    length = math.sqrt(float(a_y * a_y + a_j * a_j))
    return float(a_y * w_y + a_j * (a_j - w_j)) / (law.scale * length)


def log_gains(law: LabelLaw, observed: Sequence[int]) -> list[float]:
    """Add to the log-weight of a candidate with each label; the result is normalised."""
    masses = law.masses
    # (w - z)^2 differs between labels by a (2 w - a) only: integers, nothing cancels.
    terms = [a * (2 * w - a) for w, a in zip(observed, law.centres, strict=True)]
    if len(masses.labels) == 2:
        terms = [0, *terms]
    width = 2.0 * law.scale * law.scale
    logs = [q + term / width for q, term in zip(masses.logs, terms, strict=True)]
    best = logs.index(max(logs))
    rest = 0.0
    for label, value in enumerate(logs):
        if label != best:
            rest += math.exp(value - logs[best])
    common = masses.logs[best] + math.log1p(rest) + masses.log_total
    return [(term - terms[best]) / width - common for term in terms]


def log_gains_exact(law: LabelLaw, label: int) -> list[float]:
    """As :func:`log_gains` for an exact answer: all other labels become impossible."""
    masses = law.masses
    return [
        -q - masses.log_total if own == label else -INF
        for own, q in zip(masses.labels, masses.logs, strict=True)
    ]
