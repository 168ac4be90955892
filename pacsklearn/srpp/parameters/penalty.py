"""Penalties on the coefficients of linear models."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, final

import numpy as np
from sklearn.base import BaseEstimator

from pacsklearn._sklearn_compat import Interval, StrOptions
from pacsklearn.kernel.bounds.arrays import Floats


@final
@dataclass(repr=False)
class Penalty(BaseEstimator):
    """Penalty on the coefficients, never on the intercepts; added after the noise, at no cost.

    The squared part enters by its gradient, the absolute part by its proximal map. Neither looks at
    rows, so they stay outside the clipping; and neither makes an update react more strongly to the
    gradient: its Lipschitz constant is the step size with or without them (srpp, appendix C).

    Parameters
    ----------
    kind : {"l2", "l1", "elasticnet"} or None, default="l2"
    alpha : float, default=1e-4
        Strength, as in scikit-learn's SGDClassifier.
    l1_ratio : float, default=0.15
        Share of the absolute part, for ``"elasticnet"``.
    """

    kind: str | None = "l2"
    alpha: float = 1e-4
    l1_ratio: float = 0.15

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kind": [StrOptions({"l2", "l1", "elasticnet"}), None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    }

    @property
    def l1_share(self) -> float:
        """Share of the absolute part."""
        return {"l2": 0.0, "l1": 1.0, "elasticnet": self.l1_ratio, None: 0.0}[self.kind]

    @property
    def l2_strength(self) -> float:
        """Strength of the squared part."""
        return 0.0 if self.kind is None else self.alpha * (1 - self.l1_share)

    def gradient(self, parameters: Floats) -> Floats | float:
        """Return the gradient of the squared part."""
        if self.l2_strength == 0:
            return 0.0
        gradient = self.l2_strength * parameters
        # Intercepts are not drawn toward zero, as scikit-learn's are not.
        gradient[:, -1] = 0.0
        return gradient

    def shrink(self, parameters: Floats, step_size: float) -> None:
        """Apply the proximal map of the absolute part, in place."""
        amount = step_size * self.alpha * self.l1_share
        if amount > 0:
            inner = parameters[:, :-1]
            inner[:] = np.sign(inner) * np.maximum(np.abs(inner) - amount, 0.0)
