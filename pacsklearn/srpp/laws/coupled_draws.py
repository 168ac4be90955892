"""Gaussian noise for a table that could have been drawn from any of several laws.

Known of the laws are draws: the n-th draws under all secrets belong together. The noise is
certified by the Renyi moment of these pairs.
"""

from __future__ import annotations

import math
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.exceptions import ScenarioError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.binary_scale import scaled_by
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, Support, variances_along
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.srpp.divergence.lattice_smoothing import smoothing_excess
from pacsklearn.srpp.divergence.renyi_conversion import epsilon_at_order, gaussian_epsilon
from pacsklearn.srpp.laws.sliced_gaussian import SlicedTarget, unit_directions
from pacsklearn.srpp.laws.sliced_law import RenyiCosts, SlicedLaw
from pacsklearn.srpp.scenarios.scenario import Worlds
from pacsklearn.trials.guarded_span import GuardedSpan
from pacsklearn.trials.mean_bound import upper_mean_bound

_LEAST_DRAWS = 100
_CALIBRATED = 0.2
_KEPT = 0.95
_TRIED = 24
# Share by which squared distances grow to make room for the rounding of outputs to the lattice.
_ROUNDING = 2.0**-16
_OUTWARD = 1 + 1e-9
# exp of this is far from overflowing, and no certificate of so wide a range is useful.
_WIDEST = 300.0
_ASSUMED = "the table is drawn from one of the stated laws"


def coupled_law(
    vectors: Floats,
    failed: NDArray[np.bool_],
    worlds: Worlds,
    target: SlicedTarget,
    metric: Metric,
    confidence: float,
) -> SlicedLaw:
    """Return the law for any table's output, clipped to a public ball, certified on coupled draws.

    Parameters
    ----------
    vectors : ndarray of shape (n_worlds, d)
        Output of each draw.
    failed : ndarray of bool, shape (n_worlds,)
        Draws that gave no output: the ball's centre stands for them, as for a table without one.
    worlds : Worlds
        Laws of equally many draws, the n-th of all coupled.
    target : SlicedTarget
    metric : Metric
    confidence : float
        Probability, over the draws, that the costs are bounds.

    Returns
    -------
    SlicedLaw

    Raises
    ------
    ScenarioError
        When there are too few draws.

    Notes
    -----
    The first fifth of the draws chooses centre, directions, radius and a first variance ``v``; the
    others certify. Given a coupling, ``exp((a - 1) D_a)`` of the two mixtures is at most the mean
    of ``exp((a - 1) a r^2 / (2 v))`` over coupled pairs at distance ``r`` (joint convexity of
    ``p^a q^(1 - a)``). Clipping bounds the range of that variable, so its mean has a confidence
    bound ``U`` (:func:`upper_mean_bound`). For a larger variance ``w`` the mean is at most
    ``U^(v / w)`` (Jensen), which is solved for ``w``. Never more noise than the ball's diameter
    asks for. Source: srpp, Lemma 4.1 with the moment in place of the largest distance.
    """
    n = min(len(law.members) for law in worlds.laws)
    if n < _LEAST_DRAWS or any(len(law.members) != n for law in worlds.laws):
        raise ScenarioError(
            f"A law that is known by draws needs as many for each secret, {_LEAST_DRAWS} at least, "
            f"got {n}; give n_draws=1000 for instance."
        )
    first = max(int(_CALIBRATED * n), 20)
    chosen = np.array([i for law in worlds.laws for i in law.members[:first]])
    usable = chosen[~failed[chosen]]
    if usable.size < 2:
        raise ScenarioError(
            "The query gives a result on too few of the scenario's draws; try it on some of them."
        )
    guard = _guard(vectors[usable], metric)
    centre, pairs = np.zeros(guard.axes.shape[0]), zip(vectors, failed, strict=True)
    coordinates = np.stack([centre if bad else guard.coordinates(each) for each, bad in pairs])
    if coordinates.shape[1] == 0 or guard.q_max == 0:
        # A ball without extent: its centre is released, whatever the table is.
        return SlicedLaw.noiseless(
            target.order,
            target.delta,
            centres=np.zeros((coordinates.shape[0], 0), dtype=np.int64),
            step=np.empty(0),
            axes=np.empty((0, guard.centre.shape[0])),
            origin=guard.centre,
            aggregation=target.aggregation,
            proof="all draws give one output, which is released whatever the table is",
            confidence=confidence,
            assumptions=(_ASSUMED,),
        )
    certificate = _Certificate(coordinates, worlds, guard, target, first)
    # A quarter of the failure probability is for the views that are only reported.
    gamma = (1 - confidence) / len(worlds.instances())
    variance, costs = certificate.calibrated(0.75 * gamma, 0.25 * gamma)
    step = np.full(coordinates.shape[1], math.sqrt(variance) / LATTICE_SCALE)
    return SlicedLaw(
        centres=np.rint(coordinates / step).astype(np.int64),
        step=step,
        axes=guard.axes,
        origin=guard.centre,
        scale=LATTICE_SCALE,
        aggregation=target.aggregation,
        costs=costs,
        proof=f"Renyi moment of coupled draws (joint convexity), certified on {n - first} of {n}",
        noise_power=float(np.sum(variances_along(guard.axes, step * LATTICE_SCALE))),
        confidence=confidence,
        assumptions=(_ASSUMED,),
        span=guard,
    )


@final
class _Certificate:
    """Confidence bounds for the Renyi moments of coupled draws in a ball."""

    def __init__(
        self,
        coordinates: Floats,
        worlds: Worlds,
        guard: GuardedSpan,
        target: SlicedTarget,
        first: int,
    ) -> None:
        self._target, self._first, self._k = target, first, coordinates.shape[1]
        self._widest = 8 * guard.q_max * _OUTWARD
        axes = scaled_by(guard.axes, -guard.exponent)
        slices = unit_directions(target.profile.directions, axes)
        self._n = len(worlds.laws[0].members)
        self._whole: list[Floats] = []
        self._sliced: list[Floats] = []
        for left, right in worlds.instances():
            difference = coordinates[list(left.members)] - coordinates[list(right.members)]
            self._whole.append(np.sum(difference**2, axis=1)[:, None])
            self._sliced.append((difference @ slices.T) ** 2)

    def calibrated(self, gamma: float, reported: float) -> tuple[float, RenyiCosts]:
        """Return the variance and its costs; failure probabilities of each pair for both views."""
        target, order = self._target, self._target.order
        sliced = target.aggregation != "full"
        excess = smoothing_excess(self._k, order)
        shift = self._k * (1 + 1 / _ROUNDING) / LATTICE_SCALE**2  # of rounded outputs, squared
        room = (order - 1) * order * shift / 2
        # Costs are rounded outward as a whole, so the room is, too.
        kept = (target.epsilon - (excess if sliced else 0.0)) / _OUTWARD
        allowed = (order - 1) * kept - room
        if allowed <= 0:
            raise target.too_small()
        rounded = 1 + _ROUNDING
        ample = order * (order - 1) * self._widest / (2 * allowed) * rounded * _OUTWARD**3
        again = np.resize(np.arange(self._first), self._n - self._first)

        def needed(base: float, rows: NDArray[np.int64]) -> float:
            log = self._log_moment(base, rows, gamma, sliced=sliced)
            return rounded * base * max(1.0, log / allowed) * _OUTWARD**3

        # Never ample itself: then the variance is above the base, from which moments carry over.
        tried = np.geomspace(ample / 1e4, ample, _TRIED)[:-1]
        base = float(min(tried, key=lambda each: needed(float(each), again)))
        rest = np.arange(self._first, self._n)
        variance = min(needed(base, rest), ample)
        rate = (self._widest * rounded / variance + shift) / 2

        def cost(gamma: float, sliced: bool) -> float:
            log = self._log_moment(base, rest, gamma, sliced=sliced) * base * rounded / variance
            return min((log + room) / (order - 1) * _OUTWARD, order * rate)

        full = cost(reported if sliced else gamma, False)
        joint = (cost(gamma, True) if sliced else full) + excess

        def epsilon(at_order: float) -> float:
            own = epsilon_at_order(at_order, order, target.delta)
            return min(own, gaussian_epsilon(rate, target.delta) + excess) * _OUTWARD

        return variance, RenyiCosts(
            order=order,
            average=joint,
            joint=joint,
            worst_slice=full + excess,
            full=full,
            delta=target.delta,
            average_epsilon=epsilon(joint),
            joint_epsilon=epsilon(joint),
            full_epsilon=epsilon(full),
            full_is_exact=False,
        )

    def _log_moment(
        self, variance: float, rows: NDArray[np.int64], gamma: float, *, sliced: bool
    ) -> float:
        """Bound ``ln E exp((a - 1) a r^2 / (2 v))`` for the worst pair."""
        target = self._target
        rate = (target.order - 1) * target.order / (2 * variance)
        top = rate * self._widest
        if top > _WIDEST:
            return top
        high, bounds = math.expm1(top), []
        for squares in self._sliced if sliced else self._whole:
            weights = target.profile.weights if sliced else np.ones(1)
            values = np.clip(np.expm1(rate * squares[rows]) @ weights, 0.0, high)
            bounds.append(math.log1p(upper_mean_bound(values, 0.0, high, gamma)))
        return min(max(bounds), top)


def _guard(vectors: Floats, metric: Metric) -> GuardedSpan:
    """Return the coordinates around the mean of the draws, and the ball that holds most of them."""
    support = Support(vectors)
    exponent = support.exponent(metric)
    scaled = support.scaled(-exponent)
    span = scaled.span(metric)
    axes = span.mixing @ scaled.deviations
    lengths = np.linalg.norm(span.coordinates, axis=1)
    radius = float(np.quantile(lengths, _KEPT)) if lengths.size else 0.0
    return GuardedSpan(
        centre=support.mean,
        metric=metric,
        directions=metric.root(axes),
        axes=scaled_by(axes, exponent),
        reference=np.ones(axes.shape[0]),
        q_max=radius**2 / 2,
        exponent=exponent,
    )
