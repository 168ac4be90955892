"""The shape of the noise of a sliced release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

from sklearn.base import BaseEstimator

from pacsklearn._sklearn_compat import StrOptions


@final
@dataclass(repr=False)
class Noise(BaseEstimator):
    """In which directions a release is noised, and what noise costs there.

    Parameters
    ----------
    shape : {"isotropic", "anisotropic"}, default="isotropic"
        The same in every direction; or of least power along the slices.
    metric : "auto", None, array-like or Metric, default="auto"
        What noise costs in each direction, as in :class:`PACPrivate`: "auto" lets a model's
        canonicalizer say how much each number matters to its predictions.
    """

    shape: str = "isotropic"
    metric: Any = "auto"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "shape": [StrOptions({"isotropic", "anisotropic"})],
    }
