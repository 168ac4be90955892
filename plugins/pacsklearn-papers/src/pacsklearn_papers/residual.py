"""Noise that pays for the true mutual information only."""

from __future__ import annotations

import math
from typing import final

import numpy as np

from pacsklearn.capping.scale_search import least_log_factor
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.mixture import GaussianMixture
from pacsklearn.kernel.bounds.noise_shape import NoiseShape
from pacsklearn.kernel.noise.certified import GAMMA, Certificate, CertifiedBackend, certified_law
from pacsklearn.kernel.noise.lattice import LogdetBackend, generator_for, lattice_slack, opened
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn_papers.information_estimate import certified_information, entropy_of, leakage
from pacsklearn_papers.least_noise import residual_covariance

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
        law = certified_law(
            support,
            span.coordinates,
            axes,
            chosen,
            Certificate(
                figure=self._certificate,
                cap=target.budget,
                gamma=self.gamma,
                proof=(
                    "mutual information of the Gaussian mixture over all candidates, bounded from "
                    f"{self.n_certificate:,} draws at confidence 1 - {self.gamma:g}"
                ),
                backend="residual",
            ),
        )
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
