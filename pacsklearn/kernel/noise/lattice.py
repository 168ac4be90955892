"""Laws of noise on the integer lattice, and the backends that know its variances in closed form."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.lattice_bound import (
    SpanCoordinates,
    linear_bound,
    logdet_allocation,
    logdet_bound,
)
from pacsklearn.kernel.host import stage
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, Integers, NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import Metric

Bound = Callable[[NDArray[np.int64], Floats, int], float]

# Differences of centres stay far inside int64, noise added; only a candidate that the belief has
# all but ruled out is ever as far away, since the bound limits the others.
_LARGEST_CENTRE = 2.0**60
# Steps a spread and a double have room for when there is no noise.
_EXACT_STEPS = 2.0**40
_LARGEST_EXACT = 2.0**51


def opened(
    support: Support, target: Target, span: SpanCoordinates, backend: str
) -> tuple[Floats, NoiseLaw | None]:
    """Return how every calibration to nats begins.

    Returns
    -------
    axes : ndarray of shape (k, d)
        Output direction of each coordinate of the span.
    law : NoiseLaw or None
        The law without noise, where the budget covers the secret or all outputs are equal.
    """
    axes = span.mixing @ support.deviations
    # I(S; Y) <= H(S) whatever is released, and 0 where no output differs: no noise is needed.
    if target.budget >= support.entropy or span.variances.size == 0:
        return axes, exact_law(support, span.coordinates, axes, backend)
    return axes, None


@stage("certificate")
def lattice_law(
    support: Support,
    target: Target,
    *,
    coordinates: Floats,
    axes: Floats,
    variances: Floats,
    bound: Bound,
    proof: str,
    backend: str,
    noise_power: float,
    released_power: float,
) -> NoiseLaw:
    """Return the law of independent noise, enlarged until the bound is met exactly.

    Parameters
    ----------
    coordinates : ndarray of shape (m, k)
        Centred outputs in the basis in which the noise is independent.
    axes : ndarray of shape (k, d)
        Output direction of each coordinate.
    variances : ndarray of shape (k,)
        Noise variances that meet the target in real arithmetic.
    bound : callable
        ``bound(centres, weights, scale)`` in nats, evaluated on the integers that are released.
    noise_power, released_power : float
        As in :class:`~pacsklearn.kernel.noise.noise_law.NoiseLaw`, for ``variances``.
    """
    enlarged, hair = 1.0, 1e-12
    while True:
        # The bound is evaluated on the integers that leave, under the noise that is added to them:
        # rounding before it is a map of the secret alone, and what is decoded after it is a
        # function of what was released (data processing). Discrete Gaussians that are shifted by
        # an integer a have the divergence a^2 / (2 sigma^2) of continuous ones, exactly.
        step = np.sqrt(enlarged * variances) / LATTICE_SCALE
        centres = lattice_centres(coordinates, step, backend)
        value = bound(centres, support.weights, LATTICE_SCALE)
        if value <= target.budget:
            break
        # Rounding to the lattice moved the bound by a hair: a hair more noise puts it back, and
        # twice as much where the first was too little to move any integer.
        enlarged *= (value / target.budget) * (1 + hair)
        hair *= 2
        if not enlarged < 1e6:
            raise ValueError(
                f"budget={target.budget!r} nats is too small for the integer lattice of the "
                f"{backend!r} backend; give a budget of at least 1e-10."
            )
    return NoiseLaw(
        centres=centres,
        step=step,
        axes=axes,
        origin=support.mean,
        scale=LATTICE_SCALE,
        bound=float(value),
        proof=proof,
        backend=backend,
        noise_power=float(enlarged * noise_power),
        released_power=float(enlarged * released_power),
    )


def exact_law(support: Support, coordinates: Floats, axes: Floats, backend: str) -> NoiseLaw:
    """Return a law without noise: the budget covers the secret, or all outputs are equal."""
    # Weighted first: squares of what hardly anybody believes in may overflow.
    spread = np.linalg.norm(np.sqrt(support.weights)[:, None] * coordinates, axis=0)
    # A finer or coarser grid changes no promise: I(S; Y) is the entropy of the integers, at most
    # that of the secret.
    farthest = np.max(np.abs(coordinates), axis=0)
    step = np.maximum(spread / _EXACT_STEPS, farthest / _LARGEST_EXACT)
    law = NoiseLaw(
        centres=lattice_centres(coordinates, step, backend),
        step=step,
        axes=axes,
        origin=support.mean,
        scale=0,
        bound=support.entropy,
        proof="the release cannot tell more than the entropy of the secret",
        backend=backend,
        noise_power=0.0,
        released_power=0.0,
    )
    if law.is_constant:  # by the integers that leave, not by what they were rounded from
        return replace(law, bound=0.0, proof="every candidate gives the same output")
    return law


def distinct_outputs(centres: Integers) -> NDArray[np.intp]:
    """Number, for each candidate, of the integers that a release without noise shows; (m,)."""
    if centres.shape[1] == 0:
        return np.zeros(centres.shape[0], dtype=np.intp)
    return np.asarray(np.unique(centres, axis=0, return_inverse=True)[1]).ravel()


def lattice_centres(coordinates: Floats, step: Floats, backend: str) -> NDArray[np.int64]:
    """Return coordinates in whole grid steps."""
    if not np.all(step > 0):
        raise ValueError(
            f"The outputs are too close together for the {backend!r} backend: their variance is "
            "below the smallest number. Rescale them."
        )
    with np.errstate(over="ignore"):
        # Rounding is a map of the candidate alone: it can only lose information.
        scaled = np.rint(coordinates / step)
    return np.clip(scaled, -_LARGEST_CENTRE, _LARGEST_CENTRE).astype(np.int64)


def lattice_slack(dimension: int, span: float) -> float:
    """Return what continuous noise in the place of the discrete Gaussian can change a mean by.

    Rounding a normal variable of deviation ``s = 2**20`` to integers gives probabilities that
    differ from the discrete Gaussian's by factors ``1 + (x^2/s^2 - 1) / (24 s^2) + ...``: a total
    variation below ``2**-44`` for each coordinate. ``span`` is the range of the variable.
    """
    return dimension * 2.0**-44 * span


def generator_for(support: Support, *labels: Any) -> np.random.Generator:
    """Return the generator seeded by a hash of the outputs: a law stays a function of the support.

    Nothing can be chosen after looking at these draws without changing them.
    """
    # Rule 10: a law is a function of the outputs of all candidates and of nothing else.
    digest = hashlib.sha256(repr(labels).encode())
    digest.update(support.outputs.tobytes())
    digest.update(support.weights.tobytes())
    return np.random.default_rng(np.frombuffer(digest.digest(), dtype=np.uint32))


class ClosedFormBackend(NoiseBackend):
    """Independent noise on the principal axes of the outputs, as the metric sees them.

    A backend of this kind is its variances and the bound that they meet.

    Attributes
    ----------
    bound : callable
        Nats that integers reveal at most: ``bound(centres, weights, scale)``.
    proof : str
        Why the bound holds.
    """

    proof: ClassVar[str]

    @abstractmethod
    def variances(self, signal: Floats, budget: float) -> Floats:
        """Return noise variances for outputs of variances ``signal``; both of shape (k,)."""

    # It holds under any noise: for backends that have no tighter one.
    bound = staticmethod(linear_bound)

    @final
    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        span = support.span(metric)
        axes, exact = opened(support, target, span, self.name)
        if exact is not None:
            return exact
        # A linear map that can be undone leaves the mutual information as it is: noise is chosen,
        # and the bound proved, in coordinates that are uncorrelated under the belief.
        # A proposal in real arithmetic: what is promised is the bound of the integers.
        variances = self.variances(span.variances, target.budget)
        power = float(variances.sum())
        return lattice_law(
            support,
            target,
            coordinates=span.coordinates,
            axes=axes,
            variances=variances,
            bound=self.bound,
            proof=self.proof,
            backend=self.name,
            noise_power=self.published_power(power, support, metric),
            released_power=power,
        )

    def published_power(self, power: float, support: Support, metric: Metric) -> float:
        """Return the power of the published method, which may add more noise than this one."""
        return power


@final
class LogdetBackend(ClosedFormBackend):
    """The least noise power under the log-determinant Gaussian bound; the default.

    Guarantee
    ---------
    ``I(S; Y) <= 1/2 sum_i ln(1 + lam_i / e_i) = budget``: among outputs of one covariance the
    Gaussian has the largest entropy. Source: residual-pac, equation 2 and Proposition 2.
    """

    name = "logdet"
    description = "least noise under the log-determinant bound; the default"
    proof = "Gaussian bound: log-determinant of signal plus noise over noise"

    bound = staticmethod(logdet_bound)

    # residual-pac, Proposition 2: least trace under the log-determinant bound.
    variances = staticmethod(logdet_allocation)
