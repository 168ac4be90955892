"""How a secret that cannot be listed is drawn from the rows of a fit or a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from sklearn.base import is_classifier

from pacsklearn._fit_report import stage
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.sampled.drawn_candidates import DrawnCandidates
from pacsklearn.sampled.drawn_subsets import DrawnSubsets
from pacsklearn.universe.codebook_reader import refuse_published
from pacsklearn.universe.design import Design, SubsetSeed
from pacsklearn.universe.row_rules import checked_rows

if TYPE_CHECKING:
    from pacsklearn.sampled.sampled_subsets import SampledSubsets


@final
@dataclass(frozen=True, eq=False)
class SampledDesign:
    """All balanced subsets by the strata, rate and groups of a list's design.

    Parameters
    ----------
    design : Design
        The number of its subsets is unused.
    sizes : SampledSubsets
    """

    design: Design
    sizes: SampledSubsets

    @property
    def seed(self) -> int | SubsetSeed:
        """Of the trials."""
        return self.design.seed

    def space(self, X: Any, y: Any = None, *, classifies: bool = False) -> DrawnSubsets:
        """Return the law of the secret subset; as for :meth:`Design.space`."""
        return DrawnSubsets.of(self.design, self.sizes, X, y, classifies=classifies)

    def candidates(self, estimator: Any, X: Any, y: Any, options: FitOptions) -> DrawnCandidates:
        """Validate the universe, and say how subsets of it are drawn."""
        with stage("design"):
            refuse_published(
                estimator, "the secret may be any subset of the table (SampledSubsets)"
            )
            X, y = checked_rows(estimator, X, y, options.fit_params)
            space = self.space(X, y, classifies=is_classifier(estimator))
        return DrawnCandidates(estimator, X, y, space, options)
