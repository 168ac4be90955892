"""From noise variances to a law on the integer lattice, with an exact or a simulated bound."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.fit_report import stage
from pacsklearn.core.noise_law import LATTICE_SCALE, NoiseLaw
from pacsklearn.core.support import Support
from pacsklearn.core.target import Target
from pacsklearn.information.arrays import Floats
from pacsklearn.information.lattice_bound import SpanCoordinates

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
    """How every calibration to nats begins.

    Returns
    -------
    axes : ndarray of shape (k, d)
        Output direction of each coordinate of the span.
    law : NoiseLaw or None
        The law without noise, where the budget covers the secret or all outputs are equal.
    """
    axes = span.mixing @ support.deviations
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
    """Law with independent noise of the given variances, enlarged until the bound is met exactly.

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
        As in :class:`~pacsklearn.core.noise_law.NoiseLaw`, for ``variances``.
    """
    enlarged, hair = 1.0, 1e-12
    while True:
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
    """Law without noise, for a budget that covers the entropy of the secret, or equal outputs."""
    spread = np.sqrt(support.weights @ coordinates**2)
    farthest = np.max(np.abs(coordinates), axis=0)
    step = np.maximum(spread / _EXACT_STEPS, farthest / _LARGEST_EXACT)
    return NoiseLaw(
        centres=lattice_centres(coordinates, step, backend),
        step=step,
        axes=axes,
        origin=support.mean,
        scale=0,
        bound=support.entropy if coordinates.shape[1] else 0.0,
        proof=(
            "the release cannot tell more than the entropy of the secret"
            if coordinates.shape[1]
            else "every candidate gives the same output"
        ),
        backend=backend,
        noise_power=0.0,
        released_power=0.0,
    )


def lattice_centres(coordinates: Floats, step: Floats, backend: str) -> NDArray[np.int64]:
    """Coordinates in whole grid steps."""
    if not np.all(step > 0):
        raise ValueError(
            f"The outputs are too close together for the {backend!r} backend: their variance is "
            "below the smallest number. Rescale them."
        )
    with np.errstate(over="ignore"):
        scaled = np.rint(coordinates / step)
    return np.clip(scaled, -_LARGEST_CENTRE, _LARGEST_CENTRE).astype(np.int64)


def lattice_slack(dimension: int, span: float) -> float:
    """What continuous noise in the place of the discrete Gaussian can change a mean by.

    Rounding a normal variable of deviation ``s = 2**20`` to integers gives probabilities that
    differ from the discrete Gaussian's by factors ``1 + (x^2/s^2 - 1) / (24 s^2) + ...``: a total
    variation below ``2**-44`` for each coordinate. ``span`` is the range of the variable.
    """
    return dimension * 2.0**-44 * span


def generator_for(support: Support, *labels: Any) -> np.random.Generator:
    """Generator seeded by a hash of the outputs: a law stays a function of the support.

    Nothing can be chosen after looking at these draws without changing them.
    """
    digest = hashlib.sha256(repr(labels).encode())
    digest.update(support.outputs.tobytes())
    digest.update(support.weights.tobytes())
    return np.random.default_rng(np.frombuffer(digest.digest(), dtype=np.uint32))
