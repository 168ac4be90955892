"""Games small enough to check by other means."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.universe.balanced_space import balanced_space
from tests.audit.played_once import rounds_played_once

M, UNITS = 16, 30


@pytest.fixture(scope="package", autouse=True)
def _each_round_is_played_once() -> Iterator[None]:
    with rounds_played_once():
        yield


@pytest.fixture(scope="session")
def space() -> SecretSpace:
    return balanced_space(UNITS, n_subsets=M, seed=3)


@pytest.fixture(scope="session")
def uneven(space: SecretSpace) -> SecretSpace:
    weights = np.random.default_rng(1).uniform(0.2, 2.0, M)
    return SecretSpace(space.packed, M, weights / weights.sum())


@pytest.fixture(scope="session")
def halves() -> np.ndarray:
    """Labels of twenty queries, each splitting the candidates in two halves."""
    generator = np.random.default_rng(5)
    return np.stack([generator.permutation(M) % 2 for _ in range(20)])
