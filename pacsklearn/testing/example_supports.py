"""Supports and metrics on which a noise backend is tried."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pacsklearn.kernel.noise.noise_law import Support
from pacsklearn.kernel.outputs.metric import IdentityMetric, Metric
from pacsklearn.universe.metrics import DiagonalMetric, MatrixMetric


class Example(NamedTuple):
    """A support, a metric on its outputs, and what is special about it."""

    name: str
    support: Support
    metric: Metric


def example_supports(generator: np.random.Generator) -> list[Example]:
    """Return ordinary and awkward supports, none large."""
    normal = generator.normal
    full = normal(size=(12, 4)) * [1.0, 0.1, 5.0, 1e-3] + 2.0
    flat = normal(size=(10, 2)) @ normal(size=(2, 6))
    twins = np.repeat(normal(size=(5, 3)), 2, axis=0)
    partly = normal(size=(9, 5))
    partly[:, 1], partly[:, 3] = 0.1, -7.3
    wide = normal(size=(8, 40))
    weights = generator.uniform(0.2, 1.0, 12)
    weights[3] = 0.0
    root = normal(size=(5, 5))
    examples = [
        ("random outputs", full, None, IdentityMetric()),
        ("random outputs, diagonal metric", full, None, DiagonalMetric(np.array([1, 50, 0.1, 9]))),
        ("unequal weights, one of them zero", full, weights, IdentityMetric()),
        ("rank-deficient outputs", flat, None, IdentityMetric()),
        ("rank-deficient metric", flat, None, DiagonalMetric(np.array([1, 0, 2, 0, 3, 1]))),
        ("duplicated outputs", twins, None, IdentityMetric()),
        ("outputs on which all candidates agree", partly, None, IdentityMetric()),
        ("agreed outputs, full metric", partly, None, MatrixMetric(root @ root.T)),
        ("more outputs than candidates", wide, None, IdentityMetric()),
        ("a secret of one bit", normal(size=(2, 3)), None, IdentityMetric()),
        ("equal outputs", np.tile(normal(size=3), (6, 1)), None, IdentityMetric()),
    ]
    return [
        Example(name, Support(outputs, np.empty(0) if belief is None else belief), metric)
        for name, outputs, belief, metric in examples
    ]
