"""The Gaussian noise of least power under the true mutual information of a mixture."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacsklearn.capping.scale_search import least_log_factor
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.lattice_bound import logdet_allocation
from pacsklearn.kernel.bounds.mixture import GaussianMixture, MixtureDraws, posteriors
from pacsklearn.kernel.bounds.noise_shape import NoiseShape
from pacsklearn_papers.information_estimate import entropy_of, leakage

# Directions that the others tell anyway may do with less and less noise; this much is left.
_LEAST_SHARE = 1e-8
_TOLERANCE = 1e-3


def residual_covariance(
    outputs: Floats,
    weights: Floats,
    budget: float,
    *,
    n_draws: int,
    generator: np.random.Generator,
    max_iterations: int = 24,
) -> NoiseShape:
    """Minimise the noise power subject to the mixture's mutual information being ``budget``.

    Parameters
    ----------
    outputs : ndarray of shape (m, k)
        Centred, in coordinates that are uncorrelated under ``weights``, all of positive variance.
    weights : ndarray of shape (m,)
    budget : float
        Nats, below the entropy of ``weights``.
    n_draws : int
        Draws behind every estimate; the same for all of them (common random numbers).
    generator : numpy Generator
    max_iterations : int, default=24

    Returns
    -------
    NoiseShape
        Of estimated mutual information ``budget``: to be certified on fresh draws.

    Notes
    -----
    For Gaussian noise of covariance ``S`` the gradient of the mutual information is
    ``-S^-1 E S^-1 / 2`` with ``E`` the mean posterior covariance of the outputs (Palomar and
    Verdu, 2006). At a minimum of the trace ``S E^-1 S`` is a multiple of the identity, that is
    ``S = c E^(1/2)``; for Gaussian outputs these are the conditions of the log-determinant
    allocation. The map is iterated from there, each time scaled to the budget, with the step
    halved when the power grows; what is returned is the best shape met, so it never needs more
    power than the log-determinant shape scaled down to the same mutual information.
    Source: residual-pac, section 4.2, with the follower's optimum in closed form.
    """
    k = outputs.shape[1]
    secrets = _stratified(weights, n_draws, generator)
    draws = MixtureDraws(secrets, generator.standard_normal((n_draws, k)))
    variances = weights @ outputs**2
    best = _at_budget(
        NoiseShape(np.eye(k), logdet_allocation(variances, budget)),
        outputs, weights, draws, budget,
    )  # fmt: skip
    current, step = best, 1.0
    floor = _LEAST_SHARE * variances.max()
    for _ in range(max_iterations):
        error = _posterior_covariance(current, outputs, weights, draws)
        values, vectors = np.linalg.eigh(error)
        target = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        if not np.trace(target) > 0:
            # Every draw names its secret, up to rounding: there is no slope to follow.
            break
        present = (current.axes * current.variances) @ current.axes.T
        target *= np.trace(present) / np.trace(target)
        values, vectors = np.linalg.eigh(present + step * (target - present))
        proposal = NoiseShape(vectors, np.maximum(values, floor))
        proposal = _at_budget(proposal, outputs, weights, draws, budget)
        gain = 1 - proposal.power / best.power
        if gain > 0:
            best = current = proposal
        else:
            step /= 2
        if abs(gain) < _TOLERANCE or step < 1 / 16:
            break
    return best


def _stratified(weights: Floats, n: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Draw secrets in the proportions of the belief.

    Less noise in the estimates than independent draws.
    """
    places = (np.arange(n) + generator.random()) / n
    edges = np.cumsum(weights)
    return np.minimum(np.searchsorted(edges / edges[-1], places, side="right"), weights.size - 1)


def _information(mixture: GaussianMixture, draws: MixtureDraws) -> float:
    known = math.log(mixture.n_possible) - entropy_of(mixture)
    return float(np.mean(leakage(mixture, draws))) - known


def _at_budget(
    shape: NoiseShape, outputs: Floats, weights: Floats, draws: MixtureDraws, budget: float
) -> NoiseShape:
    """Scale the shape until the estimated mutual information is the budget."""
    signals = shape.mixture(outputs, weights).signals

    def log_ratio(log_factor: float) -> float:
        shrunk = GaussianMixture(signals, weights, math.exp(log_factor / 2))
        return math.log(max(_information(shrunk, draws), 1e-300) / budget)

    return shape.scaled(math.exp(least_log_factor(log_ratio, slope=1.0, tolerance=1e-4)))


def _posterior_covariance(
    shape: NoiseShape, outputs: Floats, weights: Floats, draws: MixtureDraws
) -> Floats:
    """Return mean covariance of the outputs given the release, in the outputs' own coordinates."""
    posterior = posteriors(shape.mixture(outputs, weights), draws)
    means = posterior @ outputs
    share = posterior.mean(axis=0)
    covariance = (outputs.T * share) @ outputs - means.T @ means / len(means)
    return np.asarray((covariance + covariance.T) / 2)
