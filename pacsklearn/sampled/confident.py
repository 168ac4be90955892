"""Noise with a certificate, and its law, for secrets that can be sampled but not enumerated."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, final

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.binary_scale import power_by, scaled_by
from pacsklearn.kernel.bounds.lattice_bound import logdet_allocation
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, Integers, Lattice, Support, Target
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.outputs.metric import IdentityMetric, Metric
from pacsklearn.kernel.outputs.withheld import silence
from pacsklearn.sampled.mean_distance import mean_distance_bound
from pacsklearn.sampled.trial_support import TrialSupport
from pacsklearn.trials.guarded_span import GuardedSpan
from pacsklearn.trials.mean_bound import upper_mean_bound


@final
@dataclass(frozen=True, eq=False)
class SampledLaw(Lattice):
    """Noise for one release of a sampled secret: how to round, and how to read the result.

    The release is ``w = point(output) + noise`` with independent discrete Gaussian noise of
    parameter :data:`~pacsklearn.kernel.noise.noise_law.LATTICE_SCALE`. The law knows trials only,
    never the secret.

    Parameters
    ----------
    step, axes, origin, scale
        As for any :class:`~pacsklearn.kernel.noise.noise_law.Lattice`.
    span : GuardedSpan
        How an output becomes coordinates.
    bound : float
        Upper bound on the mutual information, in nats, that holds with ``confidence``.
    confidence : float
    proof : str
    noise_power : float
        Sum of the noise variances in the metric.
    mean_distance : float
        Upper confidence bound for the mean ``q``; the certificate.
    enlargement : float
        Noise power over that of the same shape without a certificate.
    n_calibration, n_certificate : int
        Trials behind shape and certificate.
    vector : callable, optional
        Output of a secret; None, for which the centre stands, where it has none.
    """

    span: GuardedSpan = field(repr=False)
    bound: float
    confidence: float
    proof: str
    noise_power: float
    mean_distance: float
    enlargement: float
    n_calibration: int
    n_certificate: int
    vector: Callable[[Any], Floats | None] = field(default=lambda _: None, repr=False)

    backend: ClassVar[str] = "confident"
    information = None

    @classmethod
    def of(cls, span: GuardedSpan, step: Floats, **facts: Any) -> Self:
        """Return the law that reads whole numbers as coordinates of a span."""
        return cls(step, span.axes, span.centre, LATTICE_SCALE, span, **facts)

    def log_likelihood(self, observed: Integers) -> Floats:
        """Return the belief as it was: there is no list of candidates to have one about."""
        return np.zeros(1)

    def draw(self, secret: Any, sampler: Sampler) -> Integers:
        """Return the integers released for a secret, which is drawn and not listed."""
        with silence():  # whether anything is warned about or printed here is about the secret
            vector = self.vector(secret)
            # The centre, as any other value: that a fit failed or was late may not show.
            point = self.point(self.origin if vector is None else vector)
            return point + sampler.noise(self.dimension)

    def point(self, output: Floats) -> Integers:
        """Return the lattice point of one output of shape (d,); secret when the output is."""
        return self.span.point(output, self.step)

    @property
    def released_power(self) -> float:
        """Power of the noise that is added: all of it lies in the span."""
        return self.noise_power


# A margin over the farthest calibration trial: the guard touches next to nothing, and the range
# it leaves to the confidence bound stays small.
_GUARD = 2.0
# Noise added, lattice points stay far inside int64.
_LARGEST_POINT = 2.0**60
# Nats a coordinate, far beyond what hides anything.
_MOST = 20.0


def confident_law(
    calibration: Floats,
    certificate: Floats,
    target: Target,
    *,
    gamma: float = 1e-6,
    metric: Metric | None = None,
    guard: float = _GUARD,
) -> SampledLaw:
    """Return the law whose bound holds with confidence ``1 - gamma`` over the certificate's trials.

    Parameters
    ----------
    calibration : ndarray of shape (n >= 2, d)
        Outputs of independent trials: centre, span and shape of the noise.
    certificate : ndarray of shape (n >= 2, d)
        Outputs of further trials, independent of the first: how much noise.
    target : Target
    gamma : float
        Probability, over the certificate's trials, that the bound does not hold.
    metric : Metric, optional
    guard : float, default=2.0
        ``q_max`` over the largest distance of a calibration trial; at least 1.

    Returns
    -------
    SampledLaw

    Notes
    -----
    *Guarantee.* Let ``q = 1/2 sum_i y_i^2 / t_i`` for the guarded coordinates ``y`` of an output
    and a reference ``t`` (noise plus signal variances of the calibration trials, in the shape
    that minimises noise power under the log-determinant bound). ``q`` lies in ``[0, q_max]``, so
    one look at the certificate's trials gives an upper bound ``B`` on its mean with confidence
    ``1 - gamma``. Noise and reference times ``a`` give
    ``I(S; Y) <= 1/2 sum_i (r_i - 1 - ln r_i) + B / a``, for all ``a`` at once, and ``a`` is the
    number at which this meets the budget. Rounding to the lattice moves ``y_i`` by half a step at
    most, which is added to ``B`` by the triangle inequality. Source: algorithms.md, section 4,
    with the reference of residual-pac, equation 2, in place of the noise itself.

    When all calibration trials agree the released value is that one output, whatever the secret.
    """
    if not guard >= 1.0:
        raise ValueError(f"guard must be at least 1, got {guard!r}.")
    cost = IdentityMetric() if metric is None else metric
    support = Support(calibration)
    # The unit comes from these trials alone, never from the secret's own output.
    exponent = support.exponent(cost)
    scaled = support.scaled(-exponent)
    coordinates = scaled.span(cost)
    mixing, variances = coordinates.mixing, coordinates.variances
    if variances.size == 0:
        return _constant(support, certificate, cost)
    if target.budget > _MOST * variances.size:
        raise _too_large(target)
    shape = logdet_allocation(variances, target.budget)
    reference = shape + variances
    free = GuardedSpan(
        centre=support.mean,
        metric=cost,
        directions=mixing @ cost.root(scaled.deviations),
        axes=scaled_by(mixing @ scaled.deviations, exponent),
        reference=reference,
        q_max=np.inf,
        exponent=exponent,
    )
    farthest = max(free.distance(free.coordinates(output)) for output in support.outputs)
    span = replace(free, q_max=guard * farthest)
    # Certificate: the second trials are independent of the span, and drawn as the secret is, so
    # that E q of the secret's own output is the mean that they estimate.
    distances = [span.distance(span.coordinates(output)) for output in certificate]
    certified = upper_mean_bound(distances, 0.0, span.q_max, gamma)
    # Half a step of rounding in the reference's norm; the same for every scale of the noise.
    rounding = math.sqrt(float(np.sum(shape / reference)) / 8.0) / LATTICE_SCALE
    # Room for rounding: the bound is evaluated anew for the noise that comes out.
    left = target.budget * (1 - 1e-11) - mean_distance_bound(shape, reference, 0.0)
    if not left > 4 * rounding**2:
        raise ValueError(
            f"budget={target.budget!r} nats is too small for the integer lattice; give a budget of "
            "at least 1e-10."
        )
    # I(Z; Y) <= E KL(N(Z, a e) || N(c, a t)) for the fixed Gaussian N(c, a t), whatever the law of
    # Z; with E q <= B it is the divergence of the shapes plus B / a, which is solved for a.
    enlargement = certified / (math.sqrt(left) - rounding) ** 2
    noise = enlargement * shape
    mean = (math.sqrt(certified / enlargement) + rounding) ** 2
    bound = mean_distance_bound(noise, enlargement * reference, mean)
    assert bound <= target.budget
    step = np.sqrt(noise) / LATTICE_SCALE
    if not np.all(np.sqrt(2 * span.q_max * reference) / step < _LARGEST_POINT):
        raise _too_large(target)
    return SampledLaw.of(
        span,
        step,
        bound=bound,
        confidence=1.0 - gamma,
        proof=(
            "divergence from a fixed Gaussian; its mean distance is bounded from "
            f"{len(certificate):,} independent trials"
        ),
        noise_power=power_by(float(np.sum(noise)), exponent),
        mean_distance=certified,
        enlargement=enlargement,
        n_calibration=support.n_candidates,
        n_certificate=len(certificate),
    )


@final
@dataclass(frozen=True)
class ConfidentBackend:
    """The only noise with a bound for a secret that cannot be listed; see :func:`confident_law`.

    Parameters
    ----------
    gamma : float
    guard : float
    """

    gamma: float
    guard: float

    name: ClassVar[str] = "confident"

    def calibrate(self, support: TrialSupport, target: Target, metric: Metric) -> SampledLaw:
        """Return the law for what trials gave, which draws by way of the secret's own vector."""
        law = confident_law(
            support.calibration,
            support.certificate,
            target,
            gamma=self.gamma,
            metric=metric,
            guard=self.guard,
        )
        return replace(law, vector=support.vector)


def _too_large(target: Target) -> ValueError:
    return ValueError(
        f"budget={target.budget!r} nats is so large that the noise would be finer than a double's "
        "digits; give a few nats at most."
    )


def _constant(support: Support, certificate: Floats, metric: Metric) -> SampledLaw:
    none = np.empty(0)
    directions = np.empty((0, metric.root(np.zeros((1, support.mean.shape[0]))).shape[1]))
    axes = np.empty((0, support.mean.shape[0]))
    return SampledLaw.of(
        GuardedSpan(support.mean, metric, directions, axes, none, q_max=0.0),
        none,
        bound=0.0,
        confidence=1.0,
        proof="the released value is the calibration trials' common output, whatever the secret",
        noise_power=0.0,
        mean_distance=0.0,
        enlargement=1.0,
        n_calibration=support.n_candidates,
        n_certificate=len(certificate),
    )
