"""Rows that a fit or its plan begins with: checked once, with their candidates."""

from __future__ import annotations

from typing import Any, NamedTuple, Self, final

from sklearn.base import is_classifier

from pacsklearn._sklearn_compat import features_of
from pacsklearn.estimators.opening import Opening
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.outputs.candidates import Candidates, Design, FitOptions, subset_seed
from pacsklearn.kernel.outputs.universe import check_names, check_universe
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.sampled.drawn_subsets import DrawnSubsets
from pacsklearn.sampled.sampled_subsets import sampled_subsets


@final
class PreparedRows(NamedTuple):
    """What a fit and its plan begin with: checked rows, their candidates, and the public seed.

    ``drawn`` is the law of a secret that is drawn from all balanced subsets; the candidates are
    two of its trials then, for the checks.
    """

    candidates: Candidates
    features: dict[str, Any]
    seed: Any
    routed: dict[str, Any]
    drawn: DrawnSubsets | None = None

    @classmethod
    def of(cls, model: Any, needs_list: str, X: Any, y: Any, groups: Any, fit_params: Any) -> Self:
        """Check the rows by the parameters of :class:`~pacsklearn.PACPrivate`.

        ``needs_list`` says why what is released needs a list of candidates, if it does.
        """
        routed = model._routed(fit_params)
        check_names(X)
        # Kept aside so that a failing fit leaves the last one whole.
        features = features_of(X)
        seed = subset_seed(model.subset_seed, model.random_state)
        options = FitOptions(routed, model.n_jobs, model.verbose, model.fast_fit)
        design = Design.of(model, groups, seed)
        subsets: Design | SecretSpace = design
        drawn = None
        if sampled_subsets(model.secret_space) is not None:
            if needs_list:
                raise ValueError(needs_list.format(type(model.estimator).__name__))
            X, y = check_universe(model.estimator, X, y)
            classifies = is_classifier(model.estimator)
            drawn = DrawnSubsets.of(design, X.shape[0], y, classifies=classifies)
            # Two trials, for the checks alone: the secret's own list does not exist.
            subsets = drawn.trials(0, 2).space
        candidates = Candidates.prepare(model.estimator, X, y, subsets, options)
        return cls(candidates, features, seed, routed, drawn)

    def procedure(self, model: Any, budget: Budget) -> ReleaseProcedure:
        """How a fit releases."""
        opening, X = opening_of(model, budget), self.candidates.X
        sizes = sampled_subsets(model.secret_space)
        if self.drawn is None or sizes is None:
            return opening.listed(self.candidates.space, X)
        return opening.drawn(self.drawn, sizes, X)


def opening_of(model: Any, budget: Budget) -> Opening:
    """Terms of a fit, by the parameters of :class:`~pacsklearn.PACPrivate`."""
    return Opening(budget, model.ledger, model.random_state)
