"""Libraries loaded and code compiled before a process says that it is ready."""

from __future__ import annotations

import numpy as np

from pacsklearn.kernel.answers.label_engine import LabelEngine
from pacsklearn.kernel.answers.value_engine import ValueEngine
from pacsklearn.kernel.bounds.mixture import uniform_belief
from pacsklearn.kernel.noise.sampler import SecureSampler


def warm_up() -> None:
    """Answer a row that means nothing, of each kind: the first caller would wait a minute."""
    belief, budget = uniform_belief(2), 1 / 16
    noise = SecureSampler().noise(8)
    codes, values = np.array([[0, 1]], dtype=np.uint8), np.array([[[0.0], [1.0]]])
    for engine, said in ((LabelEngine(), codes), (ValueEngine(), values)):
        engine.contested(said, belief)
        engine.answer(said, 0, belief, budget, noise)
