"""Public directions of a sliced guarantee, what is bounded over them, and its shape of noise."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, final

from sklearn.base import BaseEstimator

from pacsklearn._sklearn_compat import Interval, StrOptions
from pacsklearn.srpp.laws.slice_profile import SliceProfile
from pacsklearn.srpp.laws.sliced_law import AGGREGATIONS


@final
@dataclass(repr=False)
class Slices(BaseEstimator):
    """Directions along which a release is looked at, and what the budget bounds over them.

    Parameters
    ----------
    n : int, default=200
        How many.
    profile : {"uniform", "orthogonal"} or SliceProfile, default="uniform"
        How they are drawn, or the directions themselves.
    seed : int, default=0
        Public seed of the directions.
    aggregation : {"full", "joint", "average"}, default="full"
        Bound the whole release, or the log-moment or the mean over slices of it. All three are
        reported for the noise that results; whoever holds the release is bounded by the first
        only.

    Examples
    --------
    >>> from pacsklearn.srpp import Slices
    >>> Slices(50, aggregation="joint").of(3).n_slices
    50
    """

    n: int = 200
    profile: Any = "uniform"
    seed: int = 0
    aggregation: str = "full"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n": [Interval(Integral, 1, None, closed="left")],
        "profile": [StrOptions({"uniform", "orthogonal"}), SliceProfile],
        "seed": [Interval(Integral, 0, None, closed="left")],
        "aggregation": [StrOptions(set(AGGREGATIONS))],
    }

    def check(self) -> None:
        """Refuse a number or a seed beside directions that are given, before anything is fitted.

        Raises
        ------
        ValueError
        """
        if not isinstance(self.profile, str) and (self.n, self.seed) != (200, 0):
            raise ValueError(
                "slices: n and seed are for profile='uniform' or 'orthogonal'; a SliceProfile has "
                "directions of its own, so they would be ignored. Leave n and seed out."
            )

    def of(self, dimension: int) -> SliceProfile:
        """Return the directions for a release of so many numbers.

        Raises
        ------
        ValueError
            When they are given, and of another length.
        """
        if isinstance(self.profile, str):
            make = getattr(SliceProfile, self.profile)
            made: SliceProfile = make(dimension, n_slices=self.n, seed=self.seed)
            return made
        if self.profile.dimension != dimension:
            raise ValueError(
                f"slices are directions in {self.profile.dimension} dimensions, and {dimension} "
                "numbers are released; give directions of that length."
            )
        return self.profile


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
