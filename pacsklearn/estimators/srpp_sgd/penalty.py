"""Penalties: added after the noise, so that they cost nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from pacsklearn.information.arrays import Floats

PENALTIES: Final = ("l2", "l1", "elasticnet", None)
"""Names of the penalties."""


@final
@dataclass(frozen=True)
class Penalty:
    """Penalty on the coefficients, never on the intercepts.

    The squared part enters by its gradient, the absolute part by its proximal map. Neither looks at
    rows, so they stay outside the clipping; and neither makes an update react more strongly to the
    gradient: its Lipschitz constant is the step size with or without them (srpp, appendix C).

    Parameters
    ----------
    kind : str or None
        One of :data:`PENALTIES`.
    strength : float
        ``alpha`` of scikit-learn's SGDClassifier.
    l1_ratio : float
        Share of the absolute part, for ``"elasticnet"``.
    """

    kind: str | None
    strength: float
    l1_ratio: float

    @property
    def l1_share(self) -> float:
        """Share of the absolute part."""
        return {"l2": 0.0, "l1": 1.0, "elasticnet": self.l1_ratio, None: 0.0}[self.kind]

    def gradient(self, parameters: Floats) -> Floats | float:
        """Gradient of the squared part."""
        factor = 0.0 if self.kind is None else self.strength * (1 - self.l1_share)
        if factor == 0:
            return 0.0
        gradient = factor * parameters
        # Intercepts are not drawn toward zero, as scikit-learn's are not.
        gradient[:, -1] = 0.0
        return gradient

    def shrink(self, parameters: Floats, step_size: float) -> None:
        """Proximal map of the absolute part, in place."""
        amount = step_size * self.strength * self.l1_share
        if amount > 0:
            inner = parameters[:, :-1]
            inner[:] = np.sign(inner) * np.maximum(np.abs(inner) - amount, 0.0)
