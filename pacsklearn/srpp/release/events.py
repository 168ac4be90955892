"""Facts of releases about Pufferfish scenarios, with the numbers that price them again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from pacsklearn.kernel.ledger.event import Event


@final
@dataclass(frozen=True, kw_only=True)
class SlicedNoise(Event):
    """Gaussian noise calibrated along slices, and its Renyi divergence of one order in every view.

    Its ``backend`` is the shape of the noise, ``"isotropic"`` or ``"anisotropic"``.

    Parameters
    ----------
    aggregation : str
        View that was charged.
    order : float
        Renyi order.
    average, joint, worst_slice, full : float
        Divergence in each view, in nats (see :class:`~pacsklearn.srpp.laws.sliced_law.RenyiCosts`).
    """

    name = "sliced-noise"

    aggregation: str
    order: float
    average: float
    joint: float
    worst_slice: float
    full: float


@final
@dataclass(frozen=True, kw_only=True)
class GradientSteps(Event):
    """Steps of clipped, noised SGD, as ``SRPPSGDAccountant.of`` prices them.

    Parameters
    ----------
    n_steps : int
    noise_multiplier : float
        Standard deviation of the noise on a batch's sum, in clipping norms.
    order : float
        Renyi order.
    accounting : str
        How the draw of the batches counts.
    n_rows, batch_size : int
    sampling : str
        How batches are drawn.
    largest : int
        Most differing rows in a batch.
    second_moment : float
        Their mean square.
    log_law : tuple of (float or None), or None
        Logarithms of the probabilities of 0, 1, ... of them, where they are known; None for zero.
    tail, failure : float
        Probabilities that ``largest`` is exceeded in a step, and that the bounds are wrong.
    mean_over_data : bool
    norms : tuple of float
        Clipping norms of the blocks.
    sizes : tuple of int
        Their numbers of parameters.
    """

    name = "gradient-steps"
    tuples = ("log_law", "norms", "sizes")

    n_steps: int
    noise_multiplier: float
    order: float
    accounting: str
    n_rows: int
    batch_size: int
    sampling: str
    largest: int
    second_moment: float
    log_law: tuple[float | None, ...] | None
    tail: float
    failure: float
    mean_over_data: bool
    norms: tuple[float, ...]
    sizes: tuple[int, ...]
