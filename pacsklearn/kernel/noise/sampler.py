"""Where the secret and the noise come from."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, Integers
from pacsklearn.kernel.secret.owner_process import OwnerProcess


class NoiseSource(ABC):
    """Source of integer noise. Coordinator only.

    Attributes
    ----------
    is_secure : bool
        Whether the noise may be released.
    """

    is_secure: bool

    @abstractmethod
    def noise(self, size: int) -> Integers:
        """Return independent discrete Gaussians of parameter ``LATTICE_SCALE``, each given once."""


class Sampler(NoiseSource):
    """Source of the secret stream: the candidate drawn, and integer noise."""

    @abstractmethod
    def index(self, weights: NDArray[np.float64]) -> int:
        """Return the candidate drawn with these probabilities."""


@final
class SecureSampler(Sampler):
    """Operating system's entropy, and OpenDP's exact discrete Gaussian drawn in vector calls."""

    is_secure = True

    def __init__(self) -> None:
        self._owner = OwnerProcess("Secret noise")

    def index(self, weights: NDArray[np.float64]) -> int:
        self._owner.check()
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
        self._owner.check()
        if size == 0:
            return np.empty(0, dtype=np.int64)
        # Rule 8: exact integers, never rounded floats.
        return np.array(_exact_gaussian()([0] * size), dtype=np.int64)


@final
class SeededSampler(Sampler):
    """Reproducible noise for tests and the curator's own curves. Never for a release."""

    is_secure = False

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator
        self._owner = OwnerProcess("Reproducible noise")

    def index(self, weights: NDArray[np.float64]) -> int:
        self._owner.check()
        # Reproducible on purpose: the guarantee of what it draws is not for release (rule 7).
        return int(self.generator.choice(weights.shape[0], p=weights / weights.sum()))

    def noise(self, size: int) -> Integers:
        self._owner.check()
        return np.rint(self.generator.normal(0.0, LATTICE_SCALE, size)).astype(np.int64)


@cache
def _exact_gaussian() -> Any:
    # Heavy: only a process that releases something loads it. Its prelude also loads pandas, polars
    # and all of scikit-learn where they are installed.
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    space = vector_domain(atom_domain(T="i64")), l2_distance(T=float)
    return make_gaussian(*space, scale=float(LATTICE_SCALE))
