"""Subsets in which every row is independently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer, check_rate


@final
@dataclass(frozen=True)
class PoissonSubsets:
    """Sampler of row subsets: each of ``n`` rows is in with probability ``rate``, independently.

    There are ``2**n`` of them, so the space can be sampled but not listed; for
    :func:`~pacsklearn.release_sampled`. Subsets may be empty.

    Parameters
    ----------
    n : int
        Rows of the universe.
    rate : float, default=0.5

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn import PoissonSubsets
    >>> PoissonSubsets(5)(np.random.default_rng(0))
    array([1, 2, 3])
    """

    n: int
    rate: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_integer(name="n", value=self.n, minimum=1))
        object.__setattr__(self, "rate", check_rate(rate=self.rate))

    def __call__(self, generator: np.random.Generator) -> NDArray[np.int64]:
        """Row indices of one subset, increasing."""
        return np.flatnonzero(generator.random(self.n) < self.rate)
