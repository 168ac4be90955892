"""The least noise under a cap on an attack: shapes that are tried, and the scale of the best."""

from __future__ import annotations

import math
from functools import cached_property
from typing import final

import numpy as np

from pacsklearn.capping.scale_search import least_log_factor
from pacsklearn.kernel.bounds.arrays import MOST_CELLS, Floats
from pacsklearn.kernel.bounds.criterion_success import Targets, second_look, success_sums
from pacsklearn.kernel.bounds.lattice_bound import SpanCoordinates, logdet_allocation
from pacsklearn.kernel.bounds.mixture import GaussianMixture, MixtureDraws
from pacsklearn.kernel.bounds.noise_shape import NoiseShape
from pacsklearn.kernel.bounds.spread import Spread
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.noise.cap_backend import CapBackend
from pacsklearn.kernel.noise.certified import Certificate, certified_law
from pacsklearn.kernel.noise.lattice import generator_for
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import Metric

# Share of the trace that covers what no direction points to.
_EVERYWHERE = 1e-6
_TOLERANCE = 1e-3


def minimum_trace_cover(directions: Floats, *, max_iterations: int = 60) -> Floats:
    """Minimise ``tr S`` subject to ``d' S^-1 d <= 1`` for every row ``d``.

    Parameters
    ----------
    directions : ndarray of shape (t, k)
        Not all zero.
    max_iterations : int, default=60
        At least 1.

    Returns
    -------
    ndarray of shape (k, k)
        Positive definite, with the largest ``d' S^-1 d`` equal to one.

    Notes
    -----
    For weights ``u`` on the rows, ``S = (sum u d d')^(1/2)`` minimises ``tr S + sum u d' S^-1 d``;
    the dual objective ``tr S`` is concave in ``u`` with gradient ``d' S^-1 d / 2``. Rows are
    weighted up in proportion to how visible they are (Titterington's update for optimal designs).

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.bounds import minimum_trace_cover
    >>> minimum_trace_cover(np.array([[3.0, 0.0], [0.0, 1.0], [0.1, 0.1]])).round(1)
    array([[9., 0.],
           [0., 1.]])
    """
    t, k = directions.shape
    spread = directions.T @ directions
    if not np.trace(spread) > 0:
        raise ValueError("directions must not all be zero.")
    floor = _EVERYWHERE * np.trace(spread) / t / k
    weights = np.full(t, 1 / t)
    for _ in range(max_iterations):
        covariance = _root((directions.T * weights) @ directions, floor)
        visible = np.einsum("ij,ij->i", directions @ np.linalg.inv(covariance), directions)
        mean = float(weights @ visible)
        if visible.max() <= (1 + _TOLERANCE) * mean:
            break
        weights *= visible / mean
        weights /= weights.sum()
    return np.asarray(covariance * visible.max())


def _root(matrix: Floats, floor: float) -> Floats:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0) + floor)) @ vectors.T)


# Targets that the search for a scale looks at: those that stand out.
_WATCHED = 128
# Rows of the directions that a shape is made for, and their entries altogether.
_MOST_DIRECTIONS, _MOST_ENTRIES = 4096, 2**19
# From here on a step towards the best shape costs as much as a certificate.
_MANY_DIMENSIONS = 256
# Steps towards the best shape; the first quarter of them goes most of the way.
_ROUNDS = 60


@final
class CriterionBackend(CapBackend):
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
    """

    name = "criterion"
    description = "least noise under a cap on the optimal adversary's success"

    def shape(
        self, support: Support, span: SpanCoordinates, criterion: Criterion, cap: float
    ) -> NoiseShape:
        """Return the shape that meets the cap at least power, with room for its certificate."""
        search = _Search(support, span, criterion, cap, self.gamma)
        return search.least(_ROUNDS, self.n_draws // 4, self.n_draws, self.n_certificate)

    def estimate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        return self.made_of(self._quick_shape, _estimated, support, target, metric)

    def _quick_shape(
        self, support: Support, span: SpanCoordinates, criterion: Criterion, cap: float
    ) -> NoiseShape:
        """Return a shape that meets the cap at about the least power, without that room."""
        search = _Search(support, span, criterion, cap, self.gamma)
        return search.least(_ROUNDS // 4, self.n_draws // 8, self.n_draws // 2)


def _estimated(
    criterion: Criterion,
    support: Support,
    coordinates: Floats,
    axes: Floats,
    shape: NoiseShape,
    cap: float,
) -> NoiseLaw:
    """Return the law of a shape that is estimated to meet the cap: nothing is certified.

    Releases are simulated by it. Its confidence is zero, so that the statement of a release by it
    would say "estimated" and could not be published.
    """
    del criterion
    # Its figure is the cap itself, so the first attempt is taken.
    taken = Certificate(
        lambda *_: cap, cap, 1.0, "none: estimated, for simulated releases", "estimate"
    )
    law = certified_law(support, coordinates, axes, shape, taken)
    assert law is not None
    return law


def success_directions(criterion: Criterion, outputs: Floats, weights: Floats) -> Floats:
    """Return the differences of outputs that success at each target depends on to first order.

    Parameters
    ----------
    criterion : Criterion
    outputs : ndarray of shape (m, k)
        Centred under ``weights``.
    weights : ndarray of shape (m,)

    Returns
    -------
    ndarray of shape (t, k)
        Where targets are sets, half the difference of the mean outputs with and without each; else
        the outputs themselves.
    """
    sets = criterion.sets()
    if sets is None:
        return np.asarray(outputs * np.sqrt(weights)[:, None])
    # The outputs are centred: their weighted sum over the candidates of a set is minus that over
    # the others, and so half the difference of the two.
    weighted, step = outputs * weights[:, None], MOST_CELLS // outputs.shape[0]
    parts = range(0, len(sets), step)
    return np.concatenate([sets[at : at + step].astype(np.float64) @ weighted for at in parts])


@final
class _Search:
    """Scales of shapes at which the success at the worst target is about the cap.

    What it finds has no part in the proof: the certificate has draws and targets of its own.
    """

    def __init__(
        self,
        support: Support,
        span: SpanCoordinates,
        criterion: Criterion,
        cap: float,
        gamma: float,
    ) -> None:
        self._support, self._span, self._criterion = support, span, criterion
        self._cap, self._blind = cap, float(criterion.prior(support.weights).max())
        # As the certificate has it at its first attempt.
        self._log_term = math.log(12 * criterion.distinct.size / gamma)

    @cached_property
    def directions(self) -> Floats:
        """Differences of outputs that success depends on to first order."""
        return success_directions(self._criterion, self._span.coordinates, self._support.weights)

    def least(self, rounds: int, first: int, last: int, n_certificate: int = 0) -> NoiseShape:
        """Return the shape of least power, found by so many draws, and its scale by the last."""
        shapes = _shapes(self.directions, self._span.variances, rounds)
        tried = [(self._scaled(each, seen := self._watched(each), first), seen) for each in shapes]
        # At any scale the same targets stand out.
        best, watched = min(tried, key=lambda pair: pair[0].power)
        return self._scaled(best, watched, last, n_certificate)

    def _scaled(
        self, shape: NoiseShape, watched: Targets, n_draws: int, n_certificate: int = 0
    ) -> NoiseShape:
        """Return the scale of a shape by success alone, or with the margin of a certificate."""
        weights = self._support.weights
        signals = shape.mixture(self._span.coordinates, weights).signals
        plain = GaussianMixture(signals, weights)
        blocks = list(plain.draws(n_draws, generator_for(self._support, "criterion", "shape")))
        log_factor = 0.0
        for _ in range(2 if n_certificate and self._criterion.has_sets else 1):
            start = GaussianMixture(signals, weights, math.exp(log_factor / 2))
            if n_certificate and self._criterion.has_sets:
                # The targets that stand out under this noise, not only to first order.
                sets = self._criterion.sets()
                variances, rates = Spread(start, blocks, len(sets)).of(sets)
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
        """Return the targets that stand out to first order."""
        criterion, distinct = self._criterion, self._criterion.distinct
        if distinct.size <= _WATCHED:
            return distinct
        if not criterion.has_sets and len(self.directions) != criterion.n_targets:
            return distinct
        # Two of the shapes lie along the coordinates themselves.
        plain = np.array_equal(shape.axes, np.eye(len(shape.axes)))
        seen = self.directions if plain else self.directions @ shape.axes
        visible = np.einsum("ij,ij,j->i", seen, seen, 1 / shape.variances)[distinct]
        return distinct[np.argsort(visible)[-_WATCHED:]]


def _shapes(directions: Floats, variances: Floats, rounds: int) -> list[NoiseShape]:
    """Return the shapes to try.

    One made for what the criterion looks at, two that know nothing of it.
    """
    k = variances.size
    shapes = [
        NoiseShape(np.eye(k), logdet_allocation(variances, 1 / 4)),
        NoiseShape(np.eye(k), np.sqrt(variances)),
    ]
    if np.any(directions):
        most = min(max(_MOST_ENTRIES // k, 256), _MOST_DIRECTIONS)
        if len(directions) > most:
            visible = np.einsum("ij,ij,j->i", directions, directions, variances**-0.5)
            directions = directions[np.argsort(visible)[-most:]]
        rounds = rounds if k <= _MANY_DIMENSIONS else min(rounds, 12)
        covariance = minimum_trace_cover(directions, max_iterations=rounds)
        values, vectors = np.linalg.eigh(covariance)
        shapes.append(NoiseShape(vectors, np.maximum(values, 1e-9 * values.max())))
    return shapes


def estimated_success(
    mixture: GaussianMixture,
    criterion: Criterion,
    n_draws: int,
    generator: np.random.Generator,
    targets: Targets | None = None,
) -> Floats:
    """Return the mean success at every target over ``n_draws`` releases; (n_targets,)."""
    chosen = np.arange(criterion.n_targets) if targets is None else targets
    total, _ = success_sums(mixture, criterion, mixture.draws(n_draws, generator), chosen)
    return np.asarray(total / n_draws)
