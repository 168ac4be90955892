"""Rows that a fit or its plan begins with: checked once, with their candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self, final

from pacsklearn._sklearn_compat import features_of
from pacsklearn.estimators.alternatives import template_of
from pacsklearn.estimators.opening import Opening
from pacsklearn.estimators.subsets import design_of
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.universe.codebook_reader import published_facts
from pacsklearn.universe.row_rules import check_names

if TYPE_CHECKING:
    from pacsklearn.estimators.pac_private import PACPrivate


@final
class PreparedRows(NamedTuple):
    """What a fit and its plan begin with: checked rows, their candidates, and the public seed.

    ``stated`` is what is fitted: an estimator, or several to choose from.
    """

    stated: Any
    candidates: Any
    features: dict[str, Any]
    seed: Any
    routed: dict[str, Any]

    @classmethod
    def of(
        cls, model: PACPrivate, needs_list: str, X: Any, y: Any, groups: Any, fit_params: Any
    ) -> Self:
        """Check the rows by the parameters of :class:`~pacsklearn.PACPrivate`.

        ``needs_list`` says why what is released needs a list of candidates, if it does.
        """
        routed = model._routed(fit_params)
        check_names(X)
        # Kept aside so that a failing fit leaves the last one whole.
        features = features_of(X)
        options = FitOptions(routed, model.n_jobs, model.verbose)
        design = design_of(model.secret, groups, model.random_state)
        candidates = design.candidates(template_of(model.estimator), X, y, options)
        if needs_list and not candidates.space.has_members:
            raise ValueError(needs_list)
        return cls(model.estimator, candidates, features, design.seed, routed)

    def procedure(self, model: PACPrivate, budget: Budget) -> ReleaseProcedure:
        """How a fit releases."""
        known = self.candidates
        facts = published_facts(known.estimator)
        return opening_of(model, budget).procedure(known.space, known.X, facts)


def opening_of(model: PACPrivate, budget: Budget) -> Opening:
    """Terms of a fit, by the parameters of :class:`~pacsklearn.PACPrivate`."""
    return Opening(budget, model.ledger, model.random_state)
