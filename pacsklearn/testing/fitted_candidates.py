"""An estimator fitted on every candidate subset, for the checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.universe.balanced_space import balanced_space


@final
@dataclass(frozen=True, eq=False)
class FittedCandidates:
    """The universe, its candidate subsets and an estimator fitted on each of them.

    Build it with :meth:`fit`.
    """

    unfitted: Any
    X: Any
    y: Any
    rows: tuple[NDArray[np.int64], ...]
    estimators: tuple[Any, ...]

    @classmethod
    def fit(
        cls, estimator: Any, X: Any, y: Any, *, n_subsets: int, random_state: int
    ) -> FittedCandidates:
        """Fit a clone on each subset of the balanced design; seeds of the estimator are fixed."""
        unfitted = clone(estimator)
        seeds = {
            name: random_state
            for name, value in unfitted.get_params().items()
            if name.split("__")[-1] == "random_state" and value is None
        }
        unfitted.set_params(**seeds)
        labels = None if y is None else np.asarray(y)
        space = balanced_space(
            np.shape(X)[0],
            n_subsets=n_subsets,
            strata=labels if is_classifier(unfitted) else None,
            seed=random_state,
        )
        rows = tuple(space.rows(index) for index in range(n_subsets))
        made = cls(unfitted, X, labels, rows, ())
        return cls(unfitted, X, labels, rows, tuple(made.refit(i) for i in range(n_subsets)))

    @property
    def n_subsets(self) -> int:
        """Number of candidates."""
        return len(self.rows)

    def subset(self, index: int) -> Any:
        """Return the rows of one candidate."""
        return safe_indexing(self.X, self.rows[index])

    def refit(self, index: int) -> Any:
        """Fit a fresh clone on one candidate again."""
        target = () if self.y is None else (self.y[self.rows[index]],)
        return clone(self.unfitted).fit(self.subset(index), *target)
