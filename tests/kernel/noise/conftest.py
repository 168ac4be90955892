"""Fixtures for the noise backends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support, Target
from pacsklearn.plugins import registry
from pacsklearn.universe.metrics import as_metric


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(77)


@pytest.fixture(scope="session")
def calibrate() -> Callable[..., NoiseLaw]:
    def calibrate(
        backend: str, outputs: Any, budget: float, metric: Any = None, weights: Any = ()
    ) -> NoiseLaw:
        support = Support(np.asarray(outputs, dtype=float), np.asarray(weights, dtype=float))
        return (
            registry().noise_backend(backend).calibrate(support, Target(budget), as_metric(metric))
        )

    return calibrate
