"""Noise that pays for the true mutual information only."""

from __future__ import annotations

import math
from typing import final

import numpy as np

from pacsklearn._validation import check_integer
from pacsklearn.core.metric import Metric
from pacsklearn.core.noise_backend import NoiseBackend
from pacsklearn.core.noise_law import NoiseLaw
from pacsklearn.core.support import Support
from pacsklearn.core.target import Target
from pacsklearn.information.mixture import GaussianMixture
from pacsklearn.information.mixture_information import certified_information
from pacsklearn.information.residual_covariance import residual_covariance
from pacsklearn.noise.certified import (
    GAMMA,
    certified_law,
    generator_for,
    lattice_slack,
    with_room,
)
from pacsklearn.noise.lattice import opened
from pacsklearn.noise.logdet import LogdetBackend

__all__ = ["ResidualBackend"]


@final
class ResidualBackend(NoiseBackend):
    """SR-PAC done exactly: the least noise power under the mixture's own mutual information.

    Parameters
    ----------
    gamma : float, default=1e-6
        Probability that the certified bound does not hold.
    n_draws : int, default=2**13
        Draws behind the choice of the covariance.
    n_certificate : int, default=2**18
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
    :class:`~pacsklearn.core.protecting_metric.ProtectingMetric` (residual-pac, section 5.2).
    """

    def __init__(
        self, *, gamma: float = GAMMA, n_draws: int = 2**13, n_certificate: int = 2**18
    ) -> None:
        if not 0 < gamma < 1:
            raise ValueError(f"gamma must lie strictly between 0 and 1, got {gamma!r}.")
        self.gamma = float(gamma)
        self.n_draws = check_integer(name="n_draws", value=n_draws, minimum=256)
        self.n_certificate = check_integer(name="n_certificate", value=n_certificate, minimum=1024)

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
        chosen = with_room(
            chosen,
            lambda shape: self._certificate(
                shape.mixture(coordinates, support.weights),
                self.gamma,
                generator_for(support, "residual", "room"),
            ),
            target.budget,
            most_power=gaussian.noise_power,
        )
        if chosen.power >= gaussian.noise_power:
            return gaussian
        law = certified_law(
            support,
            coordinates=span.coordinates,
            axes=axes,
            shape=chosen,
            cap=target.budget,
            certificate=self._certificate,
            gamma=self.gamma,
            proof=(
                "mutual information of the Gaussian mixture over all candidates, bounded from "
                f"{self.n_certificate:,} draws at confidence 1 - {self.gamma:g}"
            ),
            backend="residual",
        )
        if law is None or law.noise_power >= gaussian.noise_power:
            return gaussian
        return law

    def _certificate(
        self, mixture: GaussianMixture, gamma: float, generator: np.random.Generator
    ) -> float:
        bound = certified_information(mixture, self.n_certificate, gamma, generator)
        return bound + lattice_slack(mixture.signals.shape[1], math.log(mixture.n_possible))
