"""Noise that pays for the true mutual information only."""

from __future__ import annotations

import math
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.capping.scale_search import least_log_factor
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.lattice_bound import logdet_allocation
from pacsklearn.kernel.bounds.mixture import GaussianMixture, MixtureDraws, posteriors
from pacsklearn.kernel.bounds.noise_shape import NoiseShape
from pacsklearn.kernel.noise.certified import GAMMA, Certificate, CertifiedBackend, certified_law
from pacsklearn.kernel.noise.lattice import LogdetBackend, generator_for, lattice_slack, opened
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn_papers.information_estimate import certified_information, entropy_of, leakage

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


# Draws on which the size of the certificate's margin is tried out.
_REHEARSAL = 2**14


@final
class ResidualBackend(CertifiedBackend):
    """SR-PAC done exactly: the least noise power under the mixture's own mutual information.

    Parameters
    ----------
    gamma : float, default=1e-6
        Probability that the certified bound does not hold.
    n_draws : int, default=2**12
        Draws behind the choice of the covariance.
    n_certificate : int, default=2**16
        Fresh draws behind the certificate; more bring it closer to the true value.

    Guarantee
    ---------
    ``I(S; Y) <= budget`` with confidence ``1 - gamma``. The follower of the Stackelberg game is
    the Bayes posterior over the enumerated candidates, in closed form; nothing is learned, so
    nothing over-states what remains unknown. Source: residual-pac, section 4.2 and Algorithm 2.

    Notes
    -----
    Never more noise than ``logdet``: where the certificate's margin would cost more than the
    Gaussian bound gives away (small budgets, outputs close to Gaussian), or no simulation of this
    length meets the budget, the law is logdet's, with its proof and confidence 1. To keep
    directions that a task needs free of noise as long as the budget allows, give a
    :class:`~pacsklearn.plugins.ProtectingMetric` (residual-pac, section
    5.2).
    """

    name = "residual"
    description = "least noise under the true mutual information, certified (SR-PAC, exact)"

    def __init__(
        self, *, gamma: float = GAMMA, n_draws: int = 2**12, n_certificate: int = 2**16
    ) -> None:
        super().__init__(gamma=gamma, n_draws=n_draws, n_certificate=n_certificate)

    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        span = support.span(metric)
        axes, exact = opened(support, target, span, "residual")
        if exact is not None:
            return exact
        gaussian = LogdetBackend().calibrate(support, target, metric)
        # Candidates of no weight have coordinates that may overflow; nobody believes in them.
        coordinates = np.where(support.weights[:, None] > 0, span.coordinates, 0.0)
        chosen = residual_covariance(
            coordinates,
            support.weights,
            target.budget,
            n_draws=self.n_draws,
            generator=generator_for(support, "residual", "shape"),
        )
        chosen = self._with_room(chosen, coordinates, support, target, gaussian.noise_power)
        if chosen.power >= gaussian.noise_power:
            return gaussian
        certificate = Certificate(
            figure=self._certificate,
            cap=target.budget,
            gamma=self.gamma,
            proof="mutual information of the Gaussian mixture over all candidates, bounded from "
            f"{self.n_certificate:,} draws at confidence 1 - {self.gamma:g}",
            backend="residual",
        )
        law = certified_law(support, span.coordinates, axes, chosen, certificate)
        if law is None or law.noise_power >= gaussian.noise_power:
            return gaussian
        return law

    def _with_room(
        self, shape: NoiseShape, coordinates: Floats, support: Support, target: Target, most: float
    ) -> NoiseShape:
        """Scale a shape until its certificate can be expected to meet the budget."""
        if shape.power >= most:
            return shape
        signals = shape.mixture(coordinates, support.weights).signals
        rehearsal = GaussianMixture(signals, support.weights)
        n = min(self.n_certificate, _REHEARSAL)
        blocks = list(rehearsal.draws(n, generator_for(support, "residual", "room")))
        known = math.log(rehearsal.n_possible) - entropy_of(rehearsal)
        log_term = math.log(4 / self.gamma)

        def log_ratio(log_factor: float) -> float:
            mixture = GaussianMixture(signals, support.weights, math.exp(log_factor / 2))
            leaked = np.concatenate([leakage(mixture, draws) for draws in blocks])
            margin = math.sqrt(2 * float(leaked.var()) * log_term / self.n_certificate)
            return math.log(max(float(leaked.mean()) - known + margin, 1e-300) / target.budget)

        farthest = math.log(most / shape.power)
        chosen_factor = least_log_factor(log_ratio, slope=1.0, tolerance=2e-3, farthest=farthest)
        return shape.scaled(math.exp(chosen_factor + 1e-3))

    def _certificate(
        self, mixture: GaussianMixture, gamma: float, generator: np.random.Generator
    ) -> float:
        bound = certified_information(mixture, self.n_certificate, gamma, generator)
        return bound + lattice_slack(mixture.signals.shape[1], math.log(mixture.n_possible))
