"""Which rows a step of SGD looks at."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import final

import numpy as np
from scipy import stats

from pacsklearn.kernel.noise.noise_law import Integers
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.secret.owner_process import OwnerProcess
from pacsklearn.srpp.divergence.discrepancy import largest_batch

_WORDS = 2**64


@final
class BatchSampler:
    """Draws batches uniformly, from the operating system's entropy.

    A mean over batches, and a bound for batches that nobody learns, are about fresh draws: a public
    seed would make every batch known beforehand. Memory and time do not depend on the number of
    rows, unless most of them are drawn. Chances of Poisson batches' sizes are off by 2^-53 at most.

    Parameters
    ----------
    n_rows, batch_size : int
        Of the data, and of a batch; the mean size for ``"poisson"``. A cap has
        checked them.
    sampling : str
        One of :data:`~pacsklearn.srpp.divergence.discrepancy.SAMPLINGS`.
    random_bytes : callable, default=os.urandom
        Source of random bytes, given how many.

    Examples
    --------
    >>> BatchSampler(10**9, 3, "without-replacement").draw().shape
    (3,)
    """

    def __init__(
        self,
        n_rows: int,
        batch_size: int,
        sampling: str,
        random_bytes: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self._n_rows, self._size, self._sampling = n_rows, batch_size, sampling
        self._bytes = random_bytes
        self._owner = OwnerProcess("A source of batches")
        self._least, self._chances = 0, np.empty(0)
        if sampling == "poisson":
            most = largest_batch(n_rows, batch_size, sampling)
            # Sizes further off than 40 deviations have no chance that a double could hold.
            self._least = max(int(batch_size - 40 * (math.sqrt(batch_size) + 1)), 0)
            sizes = np.arange(self._least, most + 1)
            self._chances = stats.binom.cdf(sizes, n_rows, batch_size / n_rows)

    @classmethod
    def beside(cls, sampler: Sampler, n_rows: int, batch_size: int, sampling: str) -> BatchSampler:
        """Return a sampler as secure, or as reproducible, as the source of the noise."""
        if sampler.is_secure:
            return cls(n_rows, batch_size, sampling)
        generator = np.random.default_rng(np.abs(sampler.noise(4)))
        return cls(n_rows, batch_size, sampling, generator.bytes)

    def draw(self) -> Integers:
        """Return the rows of one batch, with their repetitions when drawn with replacement."""
        self._owner.check()
        if self._sampling == "with-replacement":
            return self._integers(self._size)
        size = self._poisson_size() if self._sampling == "poisson" else self._size
        # Of most rows those left out are drawn: the last ones would take ever more repetitions.
        if 2 * size <= self._n_rows:
            return self._distinct(size)
        kept = np.ones(self._n_rows, dtype=bool)
        kept[self._distinct(self._n_rows - size)] = False
        return np.flatnonzero(kept)

    def _distinct(self, size: int) -> Integers:
        drawn = np.empty(0, dtype=np.int64)
        while drawn.size < size:
            drawn = np.concatenate([drawn, self._integers(size - drawn.size)])
            _, first = np.unique(drawn, return_index=True)
            drawn = drawn[np.sort(first)]
        return drawn

    def _integers(self, size: int) -> Integers:
        """Return independent uniform integers below the number of rows, without modulo bias."""
        largest = _WORDS - _WORDS % self._n_rows
        accepted = np.empty(0, dtype=np.uint64)
        while accepted.size < size:
            words = np.frombuffer(self._bytes(8 * (size - accepted.size)), dtype=np.uint64)
            if largest < _WORDS:
                words = words[words < np.uint64(largest)]
            accepted = np.concatenate([accepted, words])
        return (accepted % np.uint64(self._n_rows)).astype(np.int64)

    def _poisson_size(self) -> int:
        word = int.from_bytes(self._bytes(8), "little") >> 11
        # The middle of its step: a chance of exactly 0 or 1 never comes.
        chance = (word + 0.5) * 2.0**-53
        size = self._least + int(np.searchsorted(self._chances, chance))
        return min(size, self._least + self._chances.size - 1)
