"""Noise that caps what the optimal adversary achieves, instead of an information."""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn.core.criterion import Criterion
from pacsklearn.core.metric import Metric
from pacsklearn.core.noise_backend import NoiseBackend
from pacsklearn.core.noise_law import NoiseLaw
from pacsklearn.core.support import Support
from pacsklearn.core.target import Target
from pacsklearn.information.criterion_success import certified_success, estimated_success
from pacsklearn.information.lattice_bound import logdet_bound
from pacsklearn.information.least_visible_covariance import least_visible_covariance
from pacsklearn.information.logdet_allocation import logdet_allocation
from pacsklearn.information.mixture import GaussianMixture
from pacsklearn.information.residual_covariance import NoiseShape
from pacsklearn.noise.certified import (
    GAMMA,
    certified_law,
    generator_for,
    lattice_slack,
    with_room,
)
from pacsklearn.noise.lattice import exact_law

__all__ = ["CriterionBackend"]

Floats = NDArray[np.float64]

# Targets that the search for a scale looks at: those that stand out to first order.
_WATCHED = 2048


@final
class CriterionBackend(NoiseBackend):
    """The least noise under a cap on the Bayes-optimal adversary's success.

    For ``PACPrivate(..., criterion="membership", budget=0.55)``: a target with a criterion.

    Parameters
    ----------
    gamma : float, default=1e-6
        Probability that the certified bound does not hold, over all targets together.
    n_draws : int, default=2**12
        Draws behind the choice of the noise.
    n_certificate : int, default=2**13
        Fresh draws of the certificate's first look; the second has up to 64 times as many.

    Guarantee
    ---------
    The success of any adversary at any target of the criterion is at most the budget, with
    confidence ``1 - gamma``. Source: PAC privacy, Definition 1, by simulation of the exact
    posterior and a union bound over the targets.
    """

    def __init__(
        self, *, gamma: float = GAMMA, n_draws: int = 2**12, n_certificate: int = 2**13
    ) -> None:
        if not 0 < gamma < 1:
            raise ValueError(f"gamma must lie strictly between 0 and 1, got {gamma!r}.")
        self.gamma = float(gamma)
        self.n_draws = check_integer(name="n_draws", value=n_draws, minimum=256)
        self.n_certificate = check_integer(name="n_certificate", value=n_certificate, minimum=1024)

    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        criterion = target.criterion
        if criterion is None:
            raise ValueError(
                "noise='criterion' caps an adversary's success and was given a budget of mutual "
                "information; give criterion='membership' (or another) with the cap as budget."
            )
        blind = float(criterion.prior(support.weights).max())
        if target.budget <= blind:
            raise ValueError(
                f"budget={target.budget!r} is the cap on the adversary's success, and guessing "
                f"blindly already has {blind:.6g}; give a cap between that and 1."
            )
        span = support.span(metric)
        axes = span.mixing @ support.deviations
        # Nobody believes in candidates of no weight, and their coordinates may overflow.
        possible = support.weights > 0
        coordinates = np.where(possible[:, None], span.coordinates, 0.0)
        exact = self._exact_success(support, criterion)
        if exact <= target.budget:
            law = exact_law(support, span.coordinates, axes, "criterion")
            return replace(
                law,
                bound=exact,
                information=law.bound,
                proof="success of the optimal adversary who sees the exact output",
            )
        shapes = _shapes(coordinates, span.variances, support.weights, criterion)
        chosen = min(
            (self._scaled(shape, coordinates, support, criterion, target) for shape in shapes),
            key=lambda shape: shape.power,
        )
        chosen = with_room(
            chosen,
            lambda shape: self._certificate(
                shape.mixture(coordinates, support.weights),
                criterion,
                self.gamma,
                generator_for(support, "criterion", "room"),
            ),
            target.budget,
            floor=blind,
        )
        certified = certified_law(
            support,
            coordinates=span.coordinates,
            axes=axes,
            shape=chosen,
            cap=target.budget,
            certificate=lambda mixture, gamma, generator: self._certificate(
                mixture, criterion, gamma, generator
            ),
            gamma=self.gamma,
            proof=(
                f"success of the optimal adversary at {criterion.n_targets:,} target(s) of the "
                f"criterion {criterion.name!r}, bounded by simulation of the exact posterior at "
                f"confidence 1 - {self.gamma:g}"
            ),
            backend="criterion",
            information=logdet_bound,
        )
        if certified is None:
            raise ValueError(
                f"The 'criterion' backend found no noise whose certificate meets {target.budget!r}:"
                " the simulation is too short for so small a figure. Ask for more draws, or use "
                "noise='logdet'."
            )
        return certified

    def _certificate(
        self,
        mixture: GaussianMixture,
        criterion: Criterion,
        gamma: float,
        generator: np.random.Generator,
    ) -> float:
        bound = certified_success(mixture, criterion, self.n_certificate, gamma, generator)
        return bound + lattice_slack(mixture.signals.shape[1], 1.0)

    @staticmethod
    def _exact_success(support: Support, criterion: Criterion) -> float:
        """Success at the worst target when the release has no noise."""
        _, seen = np.unique(support.outputs, axis=0, return_inverse=True)
        groups = np.eye(seen.max() + 1)[seen.ravel()] * support.weights[:, None]
        likely = groups.sum(axis=0) > 0
        posterior = (groups[:, likely] / groups[:, likely].sum(axis=0)).T
        return float(np.max(groups.sum(axis=0)[likely] @ criterion.success(posterior)))

    def _scaled(
        self,
        shape: NoiseShape,
        coordinates: Floats,
        support: Support,
        criterion: Criterion,
        target: Target,
    ) -> NoiseShape:
        """Scale a shape until the estimated success at the worst watched target is the cap."""
        watched = _watched(shape, coordinates, support.weights, criterion)

        def success(factor: float) -> float:
            mixture = shape.scaled(factor).mixture(coordinates, support.weights)
            generator = generator_for(support, "criterion", "shape")
            found = estimated_success(mixture, criterion, self.n_draws, generator, watched)
            return float(found.max())

        low, high = -60.0, 60.0
        guess = 0.0
        while high - low > 0.02:
            if success(float(np.exp(guess))) > target.budget:
                low, guess = guess, guess + 1.5 if high == 60.0 else (guess + high) / 2
            else:
                high, guess = guess, guess - 1.5 if low == -60.0 else (guess + low) / 2
        return shape.scaled(float(np.exp(high)))


def _shapes(
    coordinates: Floats, variances: Floats, weights: Floats, criterion: Criterion
) -> list[NoiseShape]:
    """Shapes to try: one made for what the criterion looks at, two that know nothing of it."""
    k = variances.size
    shapes = [
        NoiseShape(np.eye(k), logdet_allocation(variances, 1 / 4)),
        NoiseShape(np.eye(k), np.sqrt(variances)),
    ]
    directions = criterion.directions(coordinates, weights)
    if np.any(directions):
        values, vectors = np.linalg.eigh(least_visible_covariance(directions))
        shapes.append(NoiseShape(vectors, np.maximum(values, 1e-9 * values.max())))
    return shapes


def _watched(
    shape: NoiseShape, coordinates: Floats, weights: Floats, criterion: Criterion
) -> NDArray[np.intp]:
    if criterion.n_targets <= _WATCHED:
        return np.arange(criterion.n_targets)
    directions = (criterion.directions(coordinates, weights) @ shape.axes) / np.sqrt(
        shape.variances
    )
    if len(directions) != criterion.n_targets:
        return np.arange(criterion.n_targets)
    visible = np.einsum("ij,ij->i", directions, directions)
    return np.argpartition(visible, visible.size - _WATCHED)[visible.size - _WATCHED :]
