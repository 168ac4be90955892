"""From fitted models to vectors and back, checked: for candidate subsets and for worlds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pacsklearn.candidates.run import StageFailure
from pacsklearn.candidates.subset_fitting import (
    same_behaviour,
    unfitted_copy,
)
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.exceptions import StructureMismatchError
from pacsklearn.information.arrays import Floats

CHECKED_ROWS = 32
"""Enough rows to see a decode that predicts something else, few enough to cost nothing."""

_MOST_CHECKED = 16
_ROUNDING = 1e-8


@final
@dataclass(frozen=True, eq=False)
class CanonicalForm:
    """A canonicalizer for the clones of one estimator; a part that finds a fault raises it.

    Parameters
    ----------
    template : estimator
        Unfitted clone with its public seeds, to decode into.
    canonicalizer : Canonicalizer
    """

    template: Any
    canonicalizer: Canonicalizer

    def decode(self, vector: Floats, layout: Layout) -> Any:
        """Fresh fitted estimator that holds the numbers of ``vector`` only."""
        return self.canonicalizer.decode(vector, layout, unfitted_copy(self.template))

    def check_finite(self, encoding: Encoding) -> None:
        """Refuse what cannot be noised."""
        if not np.all(np.isfinite(encoding.vector)):
            raise StageFailure("finite")

    def check_behaviour(self, encoding: Encoding, model: Any, rows: Any) -> None:
        """Refuse an encoding that decodes into what behaves unlike ``model``."""
        behaviour = self.canonicalizer.behaviour
        decoded = self.decode(encoding.vector, encoding.layout)
        if not same_behaviour(behaviour(model, rows), behaviour(decoded, rows)):
            raise StageFailure("gauge")

    def align(self, vectors: Floats, layout: Layout, rows: Any) -> Floats:
        """Aligned vectors; those that were changed must decode into what behaves as before.

        Of many, sixteen are tried, the last one among them, where the form is no search's result.
        """
        # A copy: alignment in place would be compared with itself, and nothing checked.
        aligned = np.asarray(self.canonicalizer.align(vectors.copy(), layout), dtype=np.float64)
        if aligned.shape != vectors.shape or not np.all(np.isfinite(aligned)):
            raise StageFailure("gauge")
        changed = np.flatnonzero((vectors != aligned).any(axis=1))
        step = 1 if self.canonicalizer.is_searched else -(-changed.size // _MOST_CHECKED)
        for i in changed[:: -max(step, 1)]:
            model = self.decode(vectors[i], layout)
            self.check_behaviour(Encoding(aligned[i], layout), model, rows)
        return aligned


def check_structure(estimator: Any, index: int, first: Layout, layout: Layout) -> None:
    """Refuse a candidate whose model has another structure than the first one's.

    Raises
    ------
    StructureMismatchError
    """
    differences = first.differences(layout)
    if differences:
        raise StructureMismatchError(
            f"{type(estimator).__name__} fitted on subset {index} has another structure than "
            f"on subset 0: {'; '.join(differences)}. Structure cannot be noised, so it must "
            "be the same for every subset: fix it by a parameter, or collect more rows."
        )


def equal_but_for_rounding(left: Floats, right: Floats) -> bool:
    """Whether two computations of one vector gave the same."""
    if left.shape != right.shape:
        return False
    size = float(np.max(np.abs(right), initial=0.0))
    return bool(np.all(np.abs(left - right) <= _ROUNDING * size))
