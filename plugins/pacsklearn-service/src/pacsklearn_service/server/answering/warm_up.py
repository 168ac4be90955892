"""Libraries loaded and code compiled before a process says that it is ready."""

from __future__ import annotations

from typing import Final

import numpy as np

from pacsklearn.kernel.answers.label_engine import LabelEngine
from pacsklearn.kernel.answers.value_engine import ValueEngine
from pacsklearn.kernel.bounds.belief import uniform_belief
from pacsklearn.kernel.noise.sampler import SecureSampler
from pacsklearn_service.server.recipe import Recipe

_ROWS: Final = 2**19
"""So many that loops are worth compiling (``compiled(worth=...)``)."""


def warm_up() -> None:
    """Answer rows that mean nothing, of each kind: the first callers would wait a minute."""
    import skops.io  # noqa: F401 - reads the candidates of sessions, and takes seconds to load

    Recipe(name="any", dataset="any", estimator="DummyClassifier", budget=1.0).model()
    belief, budget = uniform_belief(2), 1 / 16
    noise = SecureSampler().noise(8)
    codes, values = np.zeros((_ROWS, 2), dtype=np.uint8), np.zeros((_ROWS, 2, 1))
    for engine, said in ((LabelEngine(), codes), (ValueEngine(), values)):
        engine.contested(said, belief)
        engine.answer(said, 0, belief, budget, noise)
