"""What a first answer would wait for: a standby loads it before it is needed."""

from __future__ import annotations

import numpy as np

from pacsklearn.information import uniform_belief
from pacsklearn.noise.sampler import SecureSampler
from pacsklearn.responses import label_engine, value_engine

__all__ = ["warm_up"]

_BUDGET = 1 / 16


def warm_up() -> None:
    """Answer a row that means nothing, of each kind: that loads libraries and compiled code."""
    belief = uniform_belief(2)
    noise = SecureSampler().noise(8)
    codes, values = np.array([[0, 1]], dtype=np.uint8), np.array([[[0.0], [1.0]]])
    label_engine.contested_rows(codes, belief)
    label_engine.answer_labels(codes, 0, belief, _BUDGET, noise)
    value_engine.contested_rows(values, belief)
    value_engine.answer_values(values, 0, belief, _BUDGET, noise)
