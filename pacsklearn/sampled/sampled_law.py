"""Calibrated noise for a secret that can be sampled but not enumerated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, final

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, Integers, Lattice
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.outputs.withheld import silence
from pacsklearn.trials.guarded_span import GuardedSpan


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
