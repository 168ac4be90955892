"""The mixture with one component a candidate, and what a draw from it tells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats

# Entries of a table of posteriors that are held at once.
_MOST_CELLS = 2**19
# Radius of a neighbourhood, in noise deviations: squares of distances inside one keep ten decimals.
_RADIUS = 512.0
# exp() of less is zero.
_SMALLEST_LOG = -800.0
# Logarithms up to here have exponentials in single precision, whose sums do not overflow; and so
# much error of theirs is less than what a certificate rounds.
_REACH, _NEAR = 60.0, 2.0**-12
# Entries of a table in single precision that stay in the cache.
_CACHED = 2**16


@final
@dataclass(frozen=True, eq=False)
class GaussianMixture:
    """Law of a release: each candidate's signal plus normal noise, independent by coordinate.

    Parameters
    ----------
    signals : ndarray of float or int64, shape (m, k)
        Finite. Whole numbers, the centres of a law on the lattice, are subtracted exactly; they
        must be below 2**61 in absolute value.
    weights : ndarray of shape (m,)
        Belief before the release; non-negative, summing to one.
    scale : float, default=1.0
        Standard deviation of the noise, in the unit of the signals.

    Raises
    ------
    ValueError
        If a signal is not finite, or the scale not positive.
    """

    signals: Floats | NDArray[np.int64] = field(repr=False)
    weights: Floats = field(repr=False)
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not np.all(np.isfinite(self.signals[self.weights > 0])):
            raise ValueError(
                "signals must be finite: an output, divided by the noise, is too large for a "
                "double. Give larger noise."
            )
        if not 0.0 < self.scale < math.inf:
            raise ValueError(f"scale must be positive and finite, got {self.scale!r}.")

    @property
    def n_possible(self) -> int:
        """Candidates of positive weight."""
        return int(np.count_nonzero(self.weights))

    def draws(self, n: int, generator: np.random.Generator) -> Iterator[MixtureDraws]:
        """Yield ``n`` independent releases, in blocks that bound the memory.

        Secrets come from the belief, noise from the generator: for certificates, not for releases.
        """
        m, k = self.signals.shape
        block = max(1, _MOST_CELLS // max(m, k, 1))
        for start in range(0, n, block):
            size = min(block, n - start)
            secrets = generator.choice(m, size=size, p=self.weights)
            yield MixtureDraws(secrets, generator.standard_normal((size, k)))

    def seen_from(self, origin: int, candidates: NDArray[np.intp] | slice) -> Floats:
        """Return the signals of some candidates relative to another's, in noise deviations."""
        with np.errstate(over="ignore"):
            return np.asarray((self.signals[candidates] - self.signals[origin]) / self.scale)

    @cached_property
    def neighbourhoods(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """Cover of the possible candidates by balls around some of them.

        Returns
        -------
        leaders : ndarray of int, shape (c,)
            Candidates at the centres.
        home : ndarray of int, shape (m,)
            Position in ``leaders`` of each possible candidate's own ball; -1 for the others.
        distances : ndarray of shape (c, m)
            From each leader, in noise deviations; infinite for candidates of no weight.
        """
        possible = self.weights > 0
        home = np.full(self.weights.size, -1, dtype=np.intp)
        leaders: list[int] = []
        distances: list[Floats] = []
        while np.any(left := possible & (home < 0)):
            leader = int(np.argmax(left))
            offsets = self.seen_from(leader, np.flatnonzero(possible))
            row = np.full(self.weights.size, np.inf)
            with np.errstate(over="ignore"):
                row[possible] = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))
            home[left & (row <= _RADIUS)] = len(leaders)
            leaders.append(leader)
            distances.append(row)
        return np.asarray(leaders, dtype=np.intp), home, np.asarray(distances)

    @cached_property
    def local(self) -> tuple[Floats, Floats]:
        """Signals seen from the first leader, and half their squared lengths."""
        signals = self.seen_from(int(self.neighbourhoods[0][0]), slice(None))
        return signals, np.einsum("ij,ij->i", signals, signals) / 2

    @cached_property
    def central(self) -> tuple[Floats, Floats, float]:
        """Signals seen from their mean, ``ln p_j - |c_j|^2 / 2`` but for a constant, most length.

        Of candidates in one neighbourhood, all of them possible.
        """
        signals = self.local[0] - self.weights @ self.local[0]
        squares = np.einsum("ij,ij->i", signals, signals)
        constants = np.log(self.weights) - squares / 2
        return signals, constants - constants.mean(), math.sqrt(float(squares.max()))


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


def posteriors(mixture: GaussianMixture, draws: MixtureDraws) -> Floats:
    """Return the exact Bayes posterior over the candidates after every draw; shape (n, m).

    In proportion to ``p_j exp(-|y - c_j|^2 / 2)``: the closed form of the follower in residual-pac,
    section 4.2.

    Notes
    -----
    Errors stay below 1e-9 wherever candidates lie. Squares of signals would cancel where one
    candidate is far from others, so every draw is seen from a candidate near its own secret, and
    candidates that are so far from there that no posterior of theirs is a number are left out.
    """
    # Bayes: p_j times the density of the noise, over their sum; the largest is exp(0).
    table = log_joint(mixture, draws)
    np.exp(table, out=table)
    table /= table.sum(axis=1, keepdims=True)
    return table


def single_posteriors(
    mixture: GaussianMixture, draws: MixtureDraws
) -> tuple[NDArray[np.float32], float]:
    """Return posteriors as :func:`posteriors`, in single precision.

    Returns
    -------
    table : ndarray of float32, shape (n, m)
    error : float
        By how much the sum of any entries of a row may be wrong, but for the adding.

    Notes
    -----
    Let ``u = 2^-24`` and ``l_j`` the logarithm of a candidate's weight. NumPy's exponential is off
    by less than four units in the last place, ``8 u``; what is too small for single precision adds
    less than ``m 2^-126``. Sums of ``m`` positive numbers are off by ``(m - 1) u``, the quotient by
    ``u``. A sum of posteriors and their normaliser are each off by ``8 u``, all together by
    ``u (16 + m)``; four units more cover products of errors and the doubles that signals come
    from. To it comes what the logarithms are wrong by:

    Where all candidates are near, ``l_j = y . c_j - |c_j|^2 / 2 + ln p_j``, seen from the mean of
    the signals and but for a constant, is a product of ``k + 1`` terms in single precision. Their
    absolute values add to ``r = |y| max |c_j| + max |ln p_j - |c_j|^2 / 2|`` at most. Rounding the
    factors, and adding in any order, errs by ``e = r t / (1 - t)`` at most, ``t = u (k + 4)``, and
    odds that change by a factor from ``exp(-2 e)`` to ``exp(2 e)`` move a probability by
    ``tanh(e / 2) < e / 2``.

    Otherwise ``l_j`` is taken in doubles, less its largest value, and then rounded: a sum and its
    normaliser are each off by ``u sum_j p_j |l_j| = u (H(p) + ln(max p)) <= u ln m``.
    """
    m, unit = mixture.weights.size, 2.0**-24
    leaders, _, _ = mixture.neighbourhoods
    if leaders.size == 1 and mixture.n_possible == m:
        signals, constants, longest = mixture.central
        released = signals[draws.secrets]
        released += draws.noise
        farthest = math.sqrt(float(np.max(np.einsum("ij,ij->i", released, released), initial=0.0)))
        reach = farthest * longest + float(np.abs(constants).max())
        terms = (released.shape[1] + 4) * unit
        error = reach * terms / (1 - terms)
        if reach <= _REACH and 0 <= error <= _NEAR:
            return _single_table(released, signals, constants), error / 2 + (20 + m) * unit
    table = log_joint(mixture, draws).astype(np.float32)
    np.exp(table, out=table)
    table /= table.sum(axis=1, keepdims=True)
    return table, (2 * math.log(m) + 20 + m) * unit


def _single_table(released: Floats, signals: Floats, constants: Floats) -> NDArray[np.float32]:
    """Return the normalised exponentials of ``released @ signals.T + constants``."""
    left = np.ones((len(released), released.shape[1] + 1), dtype=np.float32)
    left[:, :-1] = released
    right = np.vstack([signals.T, constants]).astype(np.float32)
    table = np.empty((len(left), right.shape[1]), dtype=np.float32)
    step, ones = max(1, _CACHED // right.shape[1]), np.ones(right.shape[1], dtype=np.float32)
    for start in range(0, len(left), step):
        some = table[start : start + step]
        np.matmul(left[start : start + step], right, out=some)
        np.exp(some, out=some)
        some /= (some @ ones)[:, None]
    return table


def log_joint(mixture: GaussianMixture, draws: MixtureDraws) -> Floats:
    """Return ``ln p_j - |y - c_j|^2 / 2`` less its largest value in every row; shape (n, m)."""
    leaders, home, distances = mixture.neighbourhoods
    places = home[draws.secrets]
    with np.errstate(divide="ignore"):
        log_weights = np.log(mixture.weights)
    # |y - c_j|^2 / 2 less what all j share: y . c_j - |c_j|^2 / 2, seen from a candidate nearby, so
    # that no difference of large squares cancels.
    if leaders.size == 1 and mixture.n_possible == mixture.weights.size:
        signals, halves = mixture.local
        released = signals[draws.secrets]
        released += draws.noise
        table = released @ signals.T
        table += log_weights - halves
    else:
        reach = _reach(log_weights, draws.noise)
        table = np.full((places.size, mixture.weights.size), -np.inf)
        for place in np.unique(places):
            rows = np.flatnonzero(places == place)
            # Triangle inequality: whoever is farther from the leader is out of every draw's reach.
            radius = distances[place][home == place].max() + reach
            near = np.flatnonzero(distances[place] <= radius)
            leader = int(leaders[place])
            signals = mixture.seen_from(leader, near)
            released = mixture.seen_from(leader, draws.secrets[rows]) + draws.noise[rows]
            halves = np.einsum("ij,ij->i", signals, signals) / 2
            table[np.ix_(rows, near)] = released @ signals.T + (log_weights[near] - halves)
    table -= table.max(axis=1, keepdims=True)
    return table


def _reach(log_weights: Floats, noise: Floats) -> float:
    """Return the distance from which on no candidate keeps a positive posterior.

    At distance ``D`` the log-posterior is at most ``r + |n| D - D^2 / 2`` below the secret's, with
    ``r`` the range of the log-weights.
    """
    possible = log_weights[log_weights > -np.inf]
    needed = float(np.ptp(possible)) - _SMALLEST_LOG
    longest = math.sqrt(float(np.max(np.einsum("ij,ij->i", noise, noise), initial=0.0)))
    return longest + math.sqrt(longest**2 + 2 * needed)
