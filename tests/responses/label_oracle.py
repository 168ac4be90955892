"""Private labels by definition, from the law of each row: what the compiled engine is held to."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pacsklearn.core.noise_law import LATTICE_SCALE
from pacsklearn.responses.answers import LabelAnswers, Step, Stop
from pacsklearn.testing.label_oracle import INF, label_law


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
            answer, margin = law.decode(observed)
            gains = law.log_gains(observed)
        else:
            gains = law.log_gains_exact(answer)
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
