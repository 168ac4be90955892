"""A Gaussian mixture with one component for each candidate, and what a draw of it tells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = ["GaussianMixture", "MixtureDraws", "leakage", "log_posterior"]

Floats = NDArray[np.float64]

# Entries of a table of posteriors that are held at once.
_MOST_CELLS = 2**21


@final
@dataclass(frozen=True, eq=False)
class GaussianMixture:
    """Law of a release: each candidate's signal plus standard normal noise.

    Parameters
    ----------
    signals : ndarray of shape (m, k)
        Outputs in units of the noise's standard deviation, coordinate by coordinate.
    weights : ndarray of shape (m,)
        Belief before the release; non-negative, summing to one.
    """

    signals: Floats = field(repr=False)
    weights: Floats = field(repr=False)

    @property
    def n_possible(self) -> int:
        """Candidates of positive weight."""
        return int(np.count_nonzero(self.weights))

    @property
    def entropy(self) -> float:
        """Entropy of the belief, in nats."""
        positive = self.weights[self.weights > 0]
        return float(-np.sum(positive * np.log(positive)))

    def draws(self, n: int, generator: np.random.Generator) -> Iterator[MixtureDraws]:
        """``n`` independent releases, in blocks that bound the memory.

        Secrets come from the belief, noise from the generator: for certificates, not for releases.
        """
        m, k = self.signals.shape
        block = max(1, _MOST_CELLS // max(m, k, 1))
        for start in range(0, n, block):
            size = min(block, n - start)
            secrets = generator.choice(m, size=size, p=self.weights)
            yield MixtureDraws(secrets, generator.standard_normal((size, k)))


@final
@dataclass(frozen=True, eq=False)
class MixtureDraws:
    """Secrets and standard normal noise; the same draws serve several mixtures.

    Parameters
    ----------
    secrets : ndarray of int, shape (n,)
    noise : ndarray of shape (n, k)
    """

    secrets: NDArray[np.intp] = field(repr=False)
    noise: Floats = field(repr=False)


def log_posterior(mixture: GaussianMixture, draws: MixtureDraws) -> Floats:
    """Log of the exact Bayes posterior over the candidates after every draw; shape (n, m).

    ``ln p_j - |y - c_j|^2 / 2`` up to the normaliser: the closed form of the follower in
    residual-pac, section 4.2. Impossible candidates have ``-inf``.
    """
    signals = mixture.signals
    with np.errstate(divide="ignore"):
        constant = np.log(mixture.weights) - np.sum(signals**2, axis=1) / 2
    released = signals[draws.secrets] + draws.noise
    table = released @ signals.T
    table += constant
    table -= table.max(axis=1, keepdims=True)
    table -= np.log(np.sum(np.exp(table), axis=1, keepdims=True))
    return np.asarray(table)


def leakage(mixture: GaussianMixture, draws: MixtureDraws) -> Floats:
    """What is no longer unknown after every draw: ``ln(n_possible) - H(S | Y = y)``; shape (n,).

    Between 0 and ``ln(n_possible)``. Its mean less ``ln(n_possible) - H(S)`` is the mutual
    information between candidate and release.
    """
    table = log_posterior(mixture, draws)
    posterior = np.exp(table)
    np.copyto(table, 0.0, where=posterior == 0)
    known = math.log(mixture.n_possible) + np.einsum("ij,ij->i", posterior, table)
    return np.asarray(np.clip(known, 0.0, math.log(mixture.n_possible)))
