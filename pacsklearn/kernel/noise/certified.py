"""Laws whose bound is certified by simulation on the integers that are released."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import as_inner_share, check_integer
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.mixture import GaussianMixture
from pacsklearn.kernel.bounds.noise_shape import NoiseShape
from pacsklearn.kernel.host import stage
from pacsklearn.kernel.noise.lattice import generator_for, lattice_centres
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, NoiseLaw, Support

GAMMA = 1e-6
"""Probability that a certificate is wrong, unless the user says otherwise."""

_ATTEMPTS = 8


class CertifiedBackend(NoiseBackend):
    """A backend whose bound is certified by simulation, on draws of its own.

    Parameters
    ----------
    gamma : float, default=1e-6
        Probability that the certified bound does not hold.
    n_draws : int, default=2**12
        Draws behind the choice of the noise.
    n_certificate : int, default=2**13
        Fresh draws behind the certificate.
    """

    def __init__(
        self, *, gamma: float = GAMMA, n_draws: int = 2**12, n_certificate: int = 2**13
    ) -> None:
        self.gamma = as_inner_share("gamma", gamma)
        self.n_draws = check_integer(name="n_draws", value=n_draws, minimum=256)
        self.n_certificate = check_integer(name="n_certificate", value=n_certificate, minimum=1024)


@final
@dataclass(frozen=True, eq=False)
class Certificate:
    """Which figure of a law is certified by simulation, and what it must not exceed.

    Parameters
    ----------
    figure : callable
        ``figure(mixture, gamma, generator)`` gives a bound that fails with probability at most
        ``gamma``.
    cap : float
    gamma : float
        Failure probability over all attempts.
    proof, backend : str
    floor : float, default=0.0
        Figure under noise without end.
    order : float, default=1.0
        The figure's distance from its floor falls about as the noise power to the ``-1 / order``.
    """

    figure: Callable[[GaussianMixture, float, np.random.Generator], float]
    cap: float
    gamma: float
    proof: str
    backend: str
    floor: float = 0.0
    order: float = 1.0


@stage("certificate")
def certified_law(
    support: Support,
    coordinates: Floats,
    axes: Floats,
    shape: NoiseShape,
    certificate: Certificate,
    information: Callable[[NDArray[np.int64], Floats, int], float] | None = None,
) -> NoiseLaw | None:
    """Return the law of a shape, enlarged until what is certified on fresh draws meets the cap.

    Parameters
    ----------
    support : Support
    coordinates, axes : ndarray of shapes (m, k) and (k, d)
        Centred outputs and the directions that their coordinates count along.
    shape : NoiseShape
        In these coordinates; estimated to meet the cap, with some room for the certificate.
    certificate : Certificate
    information : callable, optional
        Bound on the mutual information of integer centres, where the cap is on something else.

    Returns
    -------
    NoiseLaw or None
        Its ``bound`` is the certified figure; None when no attempt met the cap.

    Notes
    -----
    Each attempt has its own draws and a part of ``gamma``, so that choosing the first that meets
    the cap costs nothing: the probability that any certificate is wrong is at most their sum.
    """
    turned, directions = coordinates @ shape.axes, shape.axes.T @ axes
    gamma, backend, cap = certificate.gamma, certificate.backend, certificate.cap
    factor = 1.0
    for attempt in range(_ATTEMPTS):
        step = np.sqrt(factor * shape.variances) / LATTICE_SCALE
        centres = lattice_centres(turned, step, backend)
        # The very integers that leave, and fresh draws of this attempt.
        mixture = GaussianMixture(centres, support.weights, float(LATTICE_SCALE))
        # Union bound: the parts are 1/2, 1/4, ... of gamma and sum to less than it, so that the
        # first attempt that meets the cap may be taken.
        generator = generator_for(support, backend, attempt + 1)
        value = certificate.figure(mixture, gamma * 0.5 ** (attempt + 1), generator)
        if value <= cap:
            power = factor * shape.power
            return NoiseLaw(
                centres=centres,
                step=step,
                axes=directions,
                origin=support.mean,
                scale=LATTICE_SCALE,
                bound=value,
                proof=certificate.proof,
                backend=backend,
                noise_power=power,
                released_power=power,
                confidence=1 - gamma,
                information=information and information(centres, support.weights, LATTICE_SCALE),
            )
        # What is above the floor falls with a power of the noise, which is made good at once.
        floor = certificate.floor
        # Just above the cap the next attempt must still move, and from far off not overshoot.
        excess = min(max((value - floor) / (cap - floor), 1.002), 4.0)
        factor *= excess**certificate.order * 1.005**attempt
    return None
