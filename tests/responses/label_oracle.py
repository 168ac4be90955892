"""Private labels by definition, from the law of each row: what the compiled engine is held to."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from pacsklearn.core.noise_law import LATTICE_SCALE
from pacsklearn.responses.label_engine import LabelAnswers, Step, Stop
from pacsklearn.testing.label_oracle import INF, LabelLaw, label_law


def answer_labels(
    codes: ArrayLike,
    secret: int,
    log_belief: ArrayLike,
    step_budget: float,
    noise: ArrayLike,
    *,
    scale: int = LATTICE_SCALE,
) -> LabelAnswers:
    """Reference for :func:`pacsklearn.responses.label_engine.answer_labels`."""
    table = np.asarray(codes)
    step = Step.checked(table.shape[1], secret, log_belief, step_budget, noise, scale)
    belief, draws = step.log_belief.tolist(), step.noise.tolist()
    answers: list[int] = []
    charges: list[float] = []
    margins: list[float] = []
    used, stop = 0, Stop.FINISHED
    for row in table.tolist():
        law = label_law(row, belief, step.budget, scale)
        count = len(law.centres)
        if used + count > len(draws):
            stop = Stop.NOISE
            break
        answer, margin = row[step.secret], INF
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
    return LabelAnswers(
        answers=np.array(answers, dtype=table.dtype),
        charges=np.array(charges),
        margins=np.array(margins),
        log_belief=np.array(belief),
        noise_used=used,
        stop=stop,
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
