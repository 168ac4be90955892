"""Where the secret and the noise come from."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.home_process import HomeProcess
from pacsklearn.core.noise_law import LATTICE_SCALE

Integers = NDArray[np.int64]


class Sampler(ABC):
    """Source of the secret stream: the candidate drawn, and integer noise. Coordinator only."""

    is_secure: bool

    @abstractmethod
    def index(self, weights: NDArray[np.float64]) -> int:
        """Candidate drawn with these probabilities."""

    @abstractmethod
    def noise(self, size: int) -> Integers:
        """Independent discrete Gaussians of parameter ``LATTICE_SCALE``."""


@final
class SecureSampler(Sampler):
    """Operating system's entropy, and OpenDP's exact discrete Gaussian drawn in vector calls."""

    is_secure = True

    def __init__(self) -> None:
        self._home = HomeProcess("Secret noise")

    def index(self, weights: NDArray[np.float64]) -> int:
        self._home.check()
        # In whole numbers: partial sums of doubles would round some candidates' chances away.
        shares = [Fraction(float(weight)) for weight in weights]
        common = max(share.denominator for share in shares)
        whole = [int(share * common) for share in shares]
        ticket = secrets.randbelow(sum(whole))
        for index, count in enumerate(whole):
            ticket -= count
            if ticket < 0:
                return index
        raise AssertionError("a ticket below the sum lies in one of its parts")

    def noise(self, size: int) -> Integers:
        self._home.check()
        if size == 0:
            return np.empty(0, dtype=np.int64)
        return np.array(_exact_gaussian()([0] * size), dtype=np.int64)


@final
class SeededSampler(Sampler):
    """Reproducible noise for tests and the curator's own curves. Never for a release."""

    is_secure = False

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator
        self._home = HomeProcess("Reproducible noise")

    def index(self, weights: NDArray[np.float64]) -> int:
        self._home.check()
        return int(self.generator.choice(weights.shape[0], p=weights / weights.sum()))

    def noise(self, size: int) -> Integers:
        self._home.check()
        return np.rint(self.generator.normal(0.0, LATTICE_SCALE, size)).astype(np.int64)


@cache
def _exact_gaussian() -> Any:
    import opendp.prelude as dp  # heavy: only a process that releases something loads it

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    return dp.m.make_gaussian(*space, scale=float(LATTICE_SCALE))
