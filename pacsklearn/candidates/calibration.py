"""Steps every release takes, real or simulated for the curator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn.candidates.outputs import CandidateOutputs
from pacsklearn.core.canonicalizer import Canonicalizer
from pacsklearn.core.metric import Metric, as_metric
from pacsklearn.core.noise_law import NoiseLaw
from pacsklearn.noise.sampler import Sampler

__all__ = ["observe", "output_metric"]


def output_metric(
    metric: Any, canonicalizer: Canonicalizer, outputs: CandidateOutputs, X: Any
) -> Metric:
    """Metric from a user's argument; ``"auto"`` asks the canonicalizer."""
    if isinstance(metric, str) and metric == "auto":
        return canonicalizer.metric(outputs.layout, outputs.reference, X, outputs.vectors)
    return as_metric(metric)


def observe(law: NoiseLaw, index: int, sampler: Sampler) -> NDArray[np.int64]:
    """Integers released for candidate ``index``; a law without noise asks the sampler for none."""
    if law.is_noiseless:
        return law.observe(index, np.zeros(law.dimension, dtype=np.int64))
    return law.observe(index, sampler.noise(law.dimension))
