"""The only thing that may leave."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.ledger.event import Event


@final
@dataclass(frozen=True, eq=False)
class Release:
    """A private value, what was promised about it, and what it cost.

    Holds nothing secret: neither the law's centres nor which candidate was drawn.

    Parameters
    ----------
    value : object
        The released model.
    guarantee : Guarantee
        The promise.
    event : Event
        What was charged.
    noise_power, released_power : float
        As in :class:`~pacsklearn.kernel.noise.noise_law.NoiseLaw`; 0 or infinite where no double
        holds the square of the noise.
    individual : IndividualInformation, optional
        What this release tells about each unit by itself, when it was asked for; a public
        function of the universe.
    noise_variances : ndarray of shape (d,), optional
        Variance of the noise in each released number, in the order of the canonical vector;
        a function of the noise law, which does not depend on the secret.
    """

    value: Any
    guarantee: Guarantee = field(repr=False)
    event: Event = field(repr=False)
    noise_power: float
    released_power: float
    individual: Any = None
    noise_variances: Floats | None = field(default=None, repr=False)
