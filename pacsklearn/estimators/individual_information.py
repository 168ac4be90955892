"""What a release tells about the membership of each unit by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import MOST_CELLS, Floats
from pacsklearn.kernel.bounds.mean_bound import upper_mean_bounds
from pacsklearn.kernel.bounds.mixture import GaussianMixture, posteriors
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.noise.certified import GAMMA
from pacsklearn.kernel.noise.lattice import generator_for
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support
from pacsklearn.kernel.release.plan import Details, Step
from pacsklearn.kernel.secret.secret_space import SecretSpace

_DRAWS = 2**13
# Standard deviations between neighbouring points of a law without noise: nothing overlaps.
_APART = 50.0


@final
@dataclass(frozen=True, eq=False)
class IndividualInformation:
    """Mutual information between each unit's membership and a release, in nats.

    Parameters
    ----------
    values : ndarray of shape (n_units,)
        Estimates.
    bounds : ndarray of shape (n_units,)
        Upper bounds that hold for all units together with the stated confidence.
    priors : ndarray of shape (n_units,)
        Success of guessing each membership blindly.
    confidence : float
    """

    values: Floats = field(repr=False)
    bounds: Floats = field(repr=False)
    priors: Floats = field(repr=False)
    confidence: float

    @property
    def worst(self) -> float:
        """Bound for the unit about which the release tells most."""
        return float(self.bounds.max())

    @property
    def posterior_membership(self) -> float:
        """Success that no adversary exceeds at any unit's membership."""
        worst = zip(self.bounds, self.priors, strict=True)
        pairs = {(float(bound), float(prior)) for bound, prior in worst}
        return max(posterior_success(bound, prior) for bound, prior in pairs)

    def quantiles(self, shares: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)) -> Floats:
        """Return the quantiles over the units of the estimated values."""
        return np.asarray(np.quantile(self.values, shares))

    def __str__(self) -> str:
        low, _, middle, _, high = self.quantiles()
        return (
            f"individual mutual information: at most {self.worst:.6g} nats about any one unit "
            f"(estimates {low:.3g} to {high:.3g}, median {middle:.3g})"
        )


def individual_information(
    mixture: GaussianMixture,
    members: NDArray[np.bool_],
    *,
    n_draws: int,
    gamma: float,
    generator: np.random.Generator,
) -> IndividualInformation:
    """Compute ``I(1[j in S]; Y)`` for every unit from the exact posterior.

    Parameters
    ----------
    mixture : GaussianMixture
    members : ndarray of bool, shape (n_units, m)
        Which candidates hold which units.
    n_draws : int
    gamma : float
        Probability that any bound is too low.
    generator : numpy Generator
        Fresh.

    Returns
    -------
    IndividualInformation

    Notes
    -----
    ``I(1[j in S]; Y) = E KL(P(j in S | Y) || P(j in S))``, a mean of values between 0 and
    ``ln(1 / min(r, 1 - r))`` for a unit of inclusion rate ``r``. It never exceeds ``I(S; Y)``.
    Source: pac-private-algorithms, section 6.3.
    """
    inside = members.T.astype(np.float64)
    rate = np.clip(mixture.weights @ inside, 0.0, 1.0)
    total, squares = np.zeros(rate.size), np.zeros(rate.size)
    rows = max(1, MOST_CELLS // rate.size)
    for draws in mixture.draws(n_draws, generator):
        posterior = posteriors(mixture, draws)
        for start in range(0, len(posterior), rows):
            divergences = _binary_divergence(posterior[start : start + rows] @ inside, rate)
            total += divergences.sum(axis=0)
            squares += np.einsum("ij,ij->j", divergences, divergences)
    bounds = np.zeros(rate.size)
    held = members[:, mixture.weights > 0]
    # By counting: sums of weights are one only up to rounding.
    secret = held.any(axis=1) & ~held.all(axis=1) & (rate > 0) & (rate < 1)
    for rarest in np.unique(np.minimum(rate, 1 - rate)[secret]):
        alike = secret & (np.minimum(rate, 1 - rate) == rarest)
        bounds[alike] = upper_mean_bounds(
            total[alike], squares[alike], n_draws, 0.0, -np.log(rarest), gamma / rate.size
        )
    return IndividualInformation(
        total / n_draws, bounds, np.maximum(rate, 1 - rate), confidence=1 - gamma
    )


def _binary_divergence(posterior: Floats, prior: Floats) -> Floats:
    """Return ``KL(Bernoulli(posterior) || Bernoulli(prior))``, clipped to its range."""
    result = np.zeros_like(posterior)
    posterior = np.clip(posterior, 0.0, 1.0)
    for p, q in ((posterior, prior), (1 - posterior, 1 - prior)):
        possible = (p > 0) & (q > 0)
        ratio = np.divide(p, q, out=np.ones_like(p), where=possible)
        result += p * np.log(ratio)
    highest = -np.log(np.where((prior > 0) & (prior < 1), np.minimum(prior, 1 - prior), 1.0))
    return np.clip(result, 0.0, highest)


def information_about_units(
    law: NoiseLaw, space: SecretSpace, belief: NDArray[np.float64]
) -> IndividualInformation:
    """Return individual mutual information of a release under the belief it was calibrated for."""
    scale = 1 / _APART if law.is_noiseless else float(law.scale)
    return individual_information(
        GaussianMixture(law.centres, belief / belief.sum(), scale),
        space.membership(),
        n_draws=_DRAWS,
        gamma=GAMMA,
        generator=generator_for(Support(law.centres.astype(np.float64), belief), "individual"),
    )


def stated_individually(space: SecretSpace, step: Step) -> tuple[Details, IndividualInformation]:
    """Return what a step tells about each unit, and the guarantee's line on it."""
    figures = information_about_units(step.law, space, step.belief)
    low, _, middle, _, high = figures.quantiles()
    text = (
        f"at most {figures.worst:.6g} nats from this release, at confidence "
        f"{figures.confidence:.8g}; estimates from {low:.3g} to {high:.3g}, median {middle:.3g}"
    )
    return ((f"about any one {space.unit}", text),), figures
