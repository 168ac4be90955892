"""What slices of integer noise tell beyond slices of continuous noise."""

from __future__ import annotations

import math

READING_ERROR = 2.0
"""Standard deviation, in grid steps, of the error with which a slice is read."""


def smoothing_excess(dimension: int, order: float, reading: float = READING_ERROR) -> float:
    """Bound how much more a slice of discrete Gaussian noise tells than continuous noise.

    A slice in a general direction of a vector of whole numbers, read without any error, gives the
    whole vector away, whatever the noise: sliced guarantees of numbers in a computer speak about
    slices that are read with an error. Read with a Gaussian error of ``reading`` grid steps, a
    discrete Gaussian has the density of the continuous one up to factors ``1 +- e`` a coordinate,
    ``e = 2 sum exp(-2 (pi reading k)^2)``.

    Parameters
    ----------
    dimension : int
        Coordinates with noise.
    order : float
        Renyi order.
    reading : float
        In grid steps, at least 1.

    Returns
    -------
    float
        In nats; below 1e-27 for ten million coordinates at the default reading error.

    Notes
    -----
    The product of the noise's and the reading error's Gaussians is a Gaussian in the continuous
    coordinate times the sum of a Gaussian of width about ``reading`` over a shifted lattice, which
    Poisson's formula gives. The noise's own sum has a width of 2^20 and deviates by less.
    """
    if reading < 1:
        raise ValueError(f"reading must be at least 1 grid step, got {reading!r}.")
    # The width of the product: 2^20 and reading, of which the smaller one decides.
    width = reading / math.sqrt(1 + (reading / 2**20) ** 2)
    deviation = 2 * sum(math.exp(-2 * (math.pi * width * k) ** 2) for k in range(1, 6))
    above, below = 2 * math.log1p(deviation), -2 * math.log1p(-deviation)
    return dimension * (order * above + (order - 1) * below) / (order - 1)


# Read a continuous Gaussian of variance 2^40 - r^2, r twice the reading error, to the nearest whole
# numbers by a discrete Gaussian of width r around it: what comes out is the discrete Gaussian of
# parameter 2^20, up to factors 1 +- e a coordinate, with e below 1e-130 (Poisson's formula, as in
# smoothing_excess). So every bound about mixtures of shifted continuous Gaussians holds for whole
# numbers, with shifts longer by this factor.
CONTINUOUS_INFLATION = 1 / math.sqrt(1 - (2 * READING_ERROR / 2**20) ** 2)
"""Factor on a shift with which discrete noise tells no more than continuous."""
