"""Lower bound of the gap by one-dimensional transport to the Gaussian."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtri_exp

from pacsklearn._validation import as_inner_share, check_integer
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.trials.mean_bound import upper_mean_bound
from pacsklearn_papers.gaussianity_gap import GapCorrection, SurrogateGap

# Nodes a panel of one noise deviation, and the coarser rule that tells the error.
_NODES, _COARSE = 10, 6
_REACH = 9.0
_MOST_PANELS = 4000
_METHOD = "sliced_wasserstein", "residual-pac, Theorem 4"


def sliced_wasserstein(
    gap: SurrogateGap,
    *,
    n_directions: int = 100,
    gamma: float = 1e-6,
    seed: int = 0,
    whiten: bool = True,
) -> GapCorrection:
    """Bound the gap from below by transport distances along random directions.

    Parameters
    ----------
    gap : SurrogateGap
    n_directions : int, default=100
        Uniform directions; one is enough, and exact, for a single coordinate.
    gamma : float, default=1e-6
        Probability, over the directions, that the value lies above ``SW_2^2 / (2 lambda_max)``.
    seed : int, default=0
        Public seed of the directions.
    whiten : bool, default=True
        Measure in coordinates in which the Gaussian is standard. The gap does not depend on
        coordinates, the bound does, and is sharper there.

    Returns
    -------
    GapCorrection
        Directions along which the mixture is wider than 4,000 noise deviations count as zero.

    Notes
    -----
    ``SW_2^2 / (2 lambda_max(covariance))`` is at most the gap. Along a direction the mixture's
    distribution function is known, and ``W_2^2`` is the integral of the squared shift of the
    monotone map to the Gaussian, by Gauss-Legendre rules on panels of at most one noise deviation;
    the integrand is non-negative, so cutting off the tails lowers it, and the difference to a
    coarser rule is taken off. The average over directions gets a one-sided confidence bound.
    Source: residual-pac, Theorem 4.

    Examples
    --------
    >>> from pacsklearn_papers import SurrogateGap, sliced_wasserstein
    >>> gap = SurrogateGap([[-1.0], [1.0]], [0.5, 0.5], [0.05])
    >>> round(sliced_wasserstein(gap).value, 3)
    0.095
    """
    n_directions = check_integer(name="n_directions", value=n_directions, minimum=2)
    gamma, generator = as_inner_share("gamma", gamma), np.random.default_rng(seed)
    if not gap.is_resolved:
        return GapCorrection(0.0, 0.0, 1.0, *_METHOD)
    k = gap.noise.size
    values, vectors = np.linalg.eigh(gap.covariance)
    white = vectors / np.sqrt(values) if whiten else np.eye(k)
    largest = 1.0 if whiten else float(values[-1])
    if k == 1:
        directions = np.ones((1, 1))
    else:
        directions = generator.normal(size=(n_directions, k))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    distances = np.array([_squared_distance(gap, white @ direction) for direction in directions])
    estimate = float(np.mean(distances)) / (2.0 * largest)
    if k == 1:
        return GapCorrection(estimate, estimate, 1.0, *_METHOD)
    # A squared distance between laws of one mean and variance is at most twice the variance.
    most = 2.0 * largest * (1.0 + 1e-9)
    bound = -upper_mean_bound(-np.minimum(distances, most), -most, 0.0, gamma)
    return GapCorrection(max(0.0, bound / (2.0 * largest)), estimate, 1.0 - gamma, *_METHOD)


def _squared_distance(gap: SurrogateGap, direction: Floats) -> float:
    """Return ``W_2^2`` between the mixture and its Gaussian along a direction, not rounded up."""
    centres = gap.points @ direction
    deviation = math.sqrt(float(gap.noise @ direction**2))
    variance = float(gap.weights @ centres**2) + deviation**2
    low = float(centres.min()) - _REACH * deviation
    high = float(centres.max()) + _REACH * deviation
    if high - low > _MOST_PANELS * deviation:
        # Panels wider than the noise step over parts of the mixture: the integral could be
        # anything, and zero is below the distance whatever it is.
        return 0.0
    n_panels = max(math.ceil((high - low) / deviation), 20)
    edges = np.linspace(low, high, n_panels + 1)

    def integral(n_nodes: int) -> float:
        nodes, shares = np.polynomial.legendre.leggauss(n_nodes)
        half = 0.5 * (edges[1:] - edges[:-1])[:, None]
        x = (0.5 * (edges[1:] + edges[:-1])[:, None] + half * nodes).reshape(-1)
        terms = np.empty_like(x)
        for part in np.array_split(np.arange(x.size), max(x.size * centres.size // 2**20, 1)):
            terms[part] = _shift_terms(x[part], centres, deviation, gap.weights, variance)
        return float(np.sum(terms * (half * shares).reshape(-1)))

    fine = integral(_NODES)
    return max(fine - abs(fine - integral(_COARSE)) - 1e-14 * variance, 0.0)


def _shift_terms(
    x: Floats, centres: Floats, deviation: float, weights: Floats, variance: float
) -> Floats:
    t = (x[:, None] - centres) / deviation
    log_weights = np.log(weights)
    below = logsumexp(log_ndtr(t) + log_weights, axis=1)
    above = logsumexp(log_ndtr(-t) + log_weights, axis=1)
    # The smaller tail keeps its digits.
    image = np.where(
        below < above, ndtri_exp(np.minimum(below, 0)), -ndtri_exp(np.minimum(above, 0))
    )
    density = np.exp(logsumexp(-0.5 * t**2 + log_weights, axis=1))
    return np.asarray(
        (x - math.sqrt(variance) * image) ** 2 * density / (deviation * math.sqrt(2 * math.pi))
    )
