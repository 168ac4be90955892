"""What a mechanism was, in the numbers that are needed to price it again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

from pacsklearn.exceptions import LedgerMismatchError


@final
@dataclass(frozen=True)
class QueryAnswers:
    """Answers to queries, each contested one with noise for a step budget.

    Parameters
    ----------
    answers : str
        ``"labels"``, ``"probabilities"`` or ``"values"``.
    step_budget : float
        Nats of one contested answer.
    n_contested : int
        Answers on which the candidates differ.
    """

    answers: str
    step_budget: float
    n_contested: int


@final
@dataclass(frozen=True)
class SlicedNoise:
    """Gaussian noise calibrated along slices, and its Renyi divergence of one order in every view.

    Parameters
    ----------
    shape : str
        ``"isotropic"``, ``"anisotropic"`` or ``"worst-case"``.
    aggregation : str
        View that was charged.
    order : float
        Renyi order.
    average, joint, worst_slice, full : float
        Divergence in each view, in nats (see :class:`~pacsklearn.core.sliced_law.RenyiCosts`).
    """

    shape: str
    aggregation: str
    order: float
    average: float
    joint: float
    worst_slice: float
    full: float


@final
@dataclass(frozen=True)
class GradientSteps:
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


Mechanism: TypeAlias = QueryAnswers | SlicedNoise | GradientSteps
"""Any of them; a release that is priced by its bound alone has none."""

_NAMES: Final[dict[str, Any]] = {
    "query-answers": QueryAnswers,
    "sliced-noise": SlicedNoise,
    "gradient-steps": GradientSteps,
}


def mechanism_to_dict(mechanism: Mechanism) -> dict[str, Any]:
    """Plain dictionary, for JSON, with the mechanism's name as ``"type"``."""
    (name,) = (name for name, kind in _NAMES.items() if isinstance(mechanism, kind))
    facts = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in vars(mechanism).items()
    }
    _check(facts)
    return {"type": name} | facts


def _check(facts: dict[str, Any]) -> None:
    for name, value in facts.items():
        for each in value if isinstance(value, list) else [value]:
            plain = each is None or type(each) in {bool, int, float, str}
            if not plain or (type(each) is float and not math.isfinite(each)):
                raise LedgerMismatchError(
                    f"{name} of a mechanism must be a text, a finite number of Python's own types, "
                    f"or a tuple of them, got a value of type {type(each).__name__}."
                )


def mechanism_from_dict(facts: dict[str, Any]) -> Mechanism:
    """Mechanism that :func:`mechanism_to_dict` wrote."""
    rest = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in facts.items()
        if key != "type"
    }
    mechanism: Mechanism = _NAMES[facts["type"]](**rest)
    return mechanism
