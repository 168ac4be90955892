"""Noise that caps what the optimal adversary achieves, instead of an information."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import MOST_CELLS, Floats
from pacsklearn.kernel.bounds.criterion_success import (
    certified_success,
    second_look,
    spread,
    success_sums,
)
from pacsklearn.kernel.bounds.lattice_bound import logdet_allocation, logdet_bound
from pacsklearn.kernel.bounds.least_visible_covariance import least_visible_covariance
from pacsklearn.kernel.bounds.mixture import GaussianMixture, MixtureDraws, belief_entropy
from pacsklearn.kernel.bounds.noise_shape import NoiseShape
from pacsklearn.kernel.bounds.rounding import OUTWARD
from pacsklearn.kernel.bounds.scale_search import least_log_factor
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.noise.certified import (
    GAMMA,
    Certificate,
    CertifiedBackend,
    certified_law,
)
from pacsklearn.kernel.noise.lattice import (
    distinct_outputs,
    exact_law,
    generator_for,
    lattice_slack,
)
from pacsklearn.kernel.noise.noise_law import Integers, NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import Metric

Targets = NDArray[np.intp]

# Targets that the search for a scale looks at: those that stand out.
_WATCHED = 128
# Rows of the directions that a shape is made for, and their entries altogether.
_MOST_DIRECTIONS, _MOST_ENTRIES = 4096, 2**19
# From here on a step towards the best shape costs as much as a certificate.
_MANY_DIMENSIONS = 256


@final
class CriterionBackend(CertifiedBackend):
    """The least noise under a cap on the Bayes-optimal adversary's success.

    For ``PACPrivate(..., budget=Membership(0.55))``: a target with a criterion.

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

    name = "criterion"
    description = "least noise under a cap on the optimal adversary's success"

    def __init__(
        self, *, gamma: float = GAMMA, n_draws: int = 2**12, n_certificate: int = 2**13
    ) -> None:
        super().__init__(gamma=gamma, n_draws=n_draws, n_certificate=n_certificate)

    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        criterion = target.criterion
        if criterion is None:
            raise ValueError(
                "noise='criterion' caps an adversary's success and was given a budget of mutual "
                "information; give a cap, such as budget=Membership(0.60)."
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
        # Of the integers that would leave: a rounding may tell apart what doubles do not.
        law = exact_law(support, coordinates, axes, "criterion")
        groups = np.bincount(distinct_outputs(law.centres), support.weights)
        exact = self._exact_success(law.centres, support.weights, criterion)
        if exact <= target.budget:
            likely = groups[groups > 0]
            return replace(
                law,
                bound=exact,
                # What is a function of the secret tells its own entropy.
                information=min(belief_entropy(np.log(likely)) * OUTWARD, law.bound),
                proof="success of the optimal adversary who sees the exact output",
            )
        shapes = _shapes(coordinates, span.variances, support.weights, criterion)
        search = _Search(support, coordinates, criterion, target.budget, blind, self.gamma)
        tried = [search.scaled(shape, self.n_draws // 4) for shape in shapes]
        best = min(tried, key=lambda shape: shape.power)
        chosen = search.scaled(best, self.n_draws, self.n_certificate)
        certified = certified_law(
            support,
            span.coordinates,
            axes,
            chosen,
            Certificate(
                figure=partial(self._certificate, criterion),
                cap=target.budget,
                gamma=self.gamma,
                proof=(
                    f"success of the optimal adversary at {criterion.n_targets:,} target(s) of the "
                    f"criterion {criterion.name!r}, bounded by simulation of the exact posterior "
                    f"at confidence 1 - {self.gamma:g}"
                ),
                backend="criterion",
                floor=blind,
                order=2.0,
            ),
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
        criterion: Criterion,
        mixture: GaussianMixture,
        gamma: float,
        generator: np.random.Generator,
    ) -> float:
        bound = certified_success(mixture, criterion, self.n_certificate, gamma, generator)
        return bound + lattice_slack(mixture.signals.shape[1], 1.0)

    @staticmethod
    def _exact_success(centres: Integers, weights: Floats, criterion: Criterion) -> float:
        """Success at the worst target when the release is the integers themselves."""
        seen = distinct_outputs(centres)
        groups = np.eye(seen.max() + 1)[seen] * weights[:, None]
        likely = groups.sum(axis=0) > 0
        share = groups.sum(axis=0)[likely]
        posterior = (groups[:, likely] / share).T
        targets, step = criterion.distinct, MOST_CELLS // share.size
        return max(
            float(np.max(share @ criterion.success(posterior, targets[start : start + step])))
            for start in range(0, targets.size, step)
        )


@final
class _Search:
    """Scales of shapes at which the success at the worst target is about the cap.

    What it finds has no part in the proof: the certificate has draws and targets of its own.
    """

    def __init__(
        self,
        support: Support,
        coordinates: Floats,
        criterion: Criterion,
        cap: float,
        blind: float,
        gamma: float,
    ) -> None:
        self._support, self._coordinates, self._criterion = support, coordinates, criterion
        self._cap, self._blind = cap, blind
        # As the certificate has it at its first attempt.
        self._log_term = math.log(12 * criterion.distinct.size / gamma)

    def scaled(self, shape: NoiseShape, n_draws: int, n_certificate: int = 0) -> NoiseShape:
        """Scale of a shape by success alone, or with the margin of a certificate."""
        weights = self._support.weights
        signals = shape.mixture(self._coordinates, weights).signals
        plain = GaussianMixture(signals, weights)
        blocks = list(plain.draws(n_draws, generator_for(self._support, "criterion", "shape")))
        watched = self._watched(shape)
        log_factor = 0.0
        for _ in range(2 if n_certificate and self._criterion.sets is not None else 1):
            start = GaussianMixture(signals, weights, math.exp(log_factor / 2))
            if n_certificate and self._criterion.sets is not None:
                # The targets that stand out under this noise, not only to first order.
                variances, rates = spread(start, self._criterion.sets, blocks)
                visible = (rates - 0.5) ** 2 + variances
                watched = np.union1d(watched, np.argsort(visible)[-_WATCHED:])

            def log_ratio(step: float, base: float = log_factor, seen: Targets = watched) -> float:
                mixture = GaussianMixture(signals, weights, math.exp((base + step) / 2))
                return self._log_ratio(mixture, blocks, seen, n_draws, n_certificate)

            log_factor += least_log_factor(log_ratio, slope=0.5, tolerance=4e-3)
        return shape.scaled(math.exp(log_factor))

    def _log_ratio(
        self,
        mixture: GaussianMixture,
        blocks: list[MixtureDraws],
        watched: Targets,
        n: int,
        n_certificate: int,
    ) -> float:
        total, squares = success_sums(mixture, self._criterion, blocks, watched)
        mean = total / n
        if n_certificate:
            again = second_look(mixture.weights.size, n_certificate, watched.size)
            variance = np.maximum(squares / n - mean**2, 0.0)
            mean += np.sqrt(2 * variance * self._log_term / again)
            mean += 7 * self._log_term * (1 - self._criterion.lowest) / (3 * again)
        excess = float(mean.max()) - self._blind
        return math.log(max(excess, 1e-300) / (self._cap - self._blind))

    def _watched(self, shape: NoiseShape) -> Targets:
        """Targets that stand out to first order."""
        criterion, distinct = self._criterion, self._criterion.distinct
        if distinct.size <= _WATCHED:
            return distinct
        directions = criterion.directions(self._coordinates, self._support.weights)
        if len(directions) != criterion.n_targets:
            return distinct
        directions = (directions @ shape.axes) / np.sqrt(shape.variances)
        visible = np.einsum("ij,ij->i", directions, directions)[distinct]
        return distinct[np.argsort(visible)[-_WATCHED:]]


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
        most = min(max(_MOST_ENTRIES // k, 256), _MOST_DIRECTIONS)
        if len(directions) > most:
            visible = np.einsum("ij,ij,j->i", directions, directions, variances**-0.5)
            directions = directions[np.argsort(visible)[-most:]]
        rounds = 60 if k <= _MANY_DIMENSIONS else 12
        covariance = least_visible_covariance(directions, max_iterations=rounds)
        values, vectors = np.linalg.eigh(covariance)
        shapes.append(NoiseShape(vectors, np.maximum(values, 1e-9 * values.max())))
    return shapes
