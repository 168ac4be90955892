"""Facts of releases about Pufferfish scenarios, with the numbers that price them again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

from pacsklearn.kernel.ledger.event import Event, ledger_number


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


def _numbers(name: str, value: Any) -> tuple[float, ...]:
    return tuple(ledger_number(name, each) for each in value)


def _logarithms(name: str, value: Any) -> tuple[float | None, ...] | None:
    """Return numbers, and None for the logarithm of zero, which JSON does not have."""
    if value is None:
        return None
    return tuple(None if each is None else ledger_number(name, each) for each in value)


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
    checks: ClassVar[Mapping[str, Callable[[str, Any], Any]]] = {
        "tuple[float, ...]": _numbers,
        "tuple[float | None, ...] | None": _logarithms,
    }

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
