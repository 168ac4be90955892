"""Noise given, and the guarantee computed."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar, final

from sklearn.base import BaseEstimator

from pacsklearn._sklearn_compat import Interval, check_parameters
from pacsklearn.srpp.parameters.renyi import check_order


@final
@dataclass(repr=False)
class NoiseMultiplier(BaseEstimator):
    """Noise of private gradient steps, instead of a budget; what it promises is computed.

    Parameters
    ----------
    multiplier : float
        Standard deviation of the noise on the sum of a batch, over the clipping norm; 1e9 at most.
        0 for none, and no guarantee.
    order : float, default=4.0
        Of the Renyi divergence that is stated, above 1.
    delta : float, default=1e-5
        For which (epsilon, delta) bounds are reported.
    allow_exact : bool, default=False
        As for :class:`Renyi`.
    """

    multiplier: float
    order: float = 4.0
    delta: float = 1e-5
    _: KW_ONLY
    allow_exact: bool = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "multiplier": [Interval(Real, 0, 1e9, closed="both")],
        "allow_exact": ["boolean"],
    }

    @property
    def amount(self) -> float:
        """The number, checked."""
        check_order(self.order, self.delta)
        check_parameters(self, within="budget: ")
        return float(self.multiplier)

    @property
    def hides(self) -> bool:
        """Whether anything is noised."""
        return self.amount > 0

    def noise_for(self, accountant: Any, n_steps: int) -> float:
        """Return the multiplier, whatever the steps are."""
        return self.amount

    def ceiling(self, planned: float) -> float:
        """Return what all the steps cost."""
        return planned
