"""Verdicts by simulated releases: options and the public constant, on the same draws."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, final

import numpy as np
from sklearn.base import is_classifier

from pacsklearn.kernel.noise.noise_law import NoiseLaw
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.release.account import opening_belief
from pacsklearn.kernel.release.parameters import ParameterPlan
from pacsklearn.priors import Constant
from pacsklearn.tabular.choosing.log_score import (
    is_tempered,
    log_and_right,
    log_scores,
    temperatures_of,
    tempered,
)
from pacsklearn.tabular.choosing.simulated_releases import (
    SEED,
    SimulatedReleases,
    outside_rows,
    released_scorer,
    scoring_name,
)
from pacsklearn.tabular.choosing.verdict import Utility, Verdict, public_constant, reference_of

FIRST_RELEASES = 8
LOG_SCORE = "neg_log_loss"


@final
class Judge:
    """Scores simulated releases of parameters, and the constant in their place.

    Parameters
    ----------
    candidates : Candidates
    scoring : None, str or callable
        None is the log-probability of the true classes for classifiers, ``score`` for others.
    prior : Constant, optional
        Public probabilities of the classes; what is expected of regressors, plans know.
    most : int, default=2000
        Rows that a release is scored on.

    Attributes
    ----------
    y : array-like or None
        Targets of the rows that it scores on.
    """

    def __init__(
        self,
        candidates: Candidates,
        scoring: Any = None,
        prior: Constant | None = None,
        most: int = 2000,
    ) -> None:
        self._prior = prior
        self._held_out = outside_rows(candidates, SEED, most)
        self.y = y = candidates.space.judged(candidates.X, candidates.y)[1]
        classifies = is_classifier(candidates.estimator) and y is not None and np.ndim(y) == 1
        is_default = scoring is None or scoring == LOG_SCORE
        self._by_log = classifies and is_default
        self._scoring = LOG_SCORE if self._by_log else scoring

    def utility(
        self,
        name: str,
        plan: ParameterPlan,
        n_releases: int,
        temperatures: tuple[float, ...] = (1.0,),
        seed: int = SEED,
        law: NoiseLaw | None = None,
    ) -> Utility:
        """Return the utility of a release of parameters at the best of some public temperatures.

        By the law that is released, unless another is given.
        """
        law, chosen, right = law or plan.calibrate(opening_belief(plan.space.weights)), 0, ()
        if self._by_log or len(temperatures) > 1:
            n_drawn = n_releases if self._by_log else min(n_releases, FIRST_RELEASES)
            by_log = partial(log_and_right, temperatures=temperatures)
            table = self.simulated(plan, n_drawn, seed, by_log).at(law)
            chosen = int(np.argmax(table[:, :-1].mean(axis=0)))
            scores, right = table[:, chosen], tuple(table[:, -1].tolist())
        if not self._by_log:
            scorer = self._scorer(plan, temperatures[chosen])
            scores, right = self.simulated(plan, n_releases, seed, scorer).at(law), ()
        return Utility(name, tuple(scores.tolist()), temperatures[chosen], right=right)

    def verdict(self, name: str, plan: ParameterPlan, n_releases: int) -> Verdict:
        """Return the verdict on one estimator's release."""
        listed = temperatures_of(plan.outputs.form.template)
        utility = self.utility(name, plan, n_releases, listed)
        return Verdict(self.scoring(plan), (utility,), self.reference(plan, utility))

    def without_noise(self, plan: ParameterPlan, n_releases: int) -> float:
        """Return the mean score of the drawn candidates' models as they are."""
        listed = temperatures_of(plan.outputs.form.template)
        score: Any = self._scorer(plan, 1.0)
        if self._by_log:
            # Margins have no scale of their own; probabilities are taken at their word.
            listed = listed[:1] if is_tempered(plan.outputs.form.template) else listed
            score = partial(log_scores, temperatures=listed)
        scores = self.simulated(plan, n_releases, SEED, score).without_noise()
        return float(scores.mean(axis=0).max())

    def reference(self, plan: ParameterPlan, utility: Utility, seed: int = SEED) -> Utility:
        """Return the score of the constant in the draws of an option's utility."""
        scorer = self._scorer(plan, 1.0)
        draws = self.simulated(plan, len(utility.scores), seed, scorer).candidates
        return reference_of(self.constant(plan), scorer, self._held_out.rows_of, draws)

    def constant(self, plan: ParameterPlan) -> Any:
        """Return the public constant in the place of a plan's release; None where there is none."""
        prior = self._prior or plan.reading.prior
        return public_constant(plan.outputs.form.template, self.y, prior)

    def scoring(self, plan: ParameterPlan) -> str:
        """Return the name of what is scored."""
        return scoring_name(self._scoring, plan.outputs.reference)

    def simulated(
        self, plan: ParameterPlan, n_releases: int, seed: int, score: Callable[..., Any]
    ) -> SimulatedReleases:
        """Return simulated releases of a plan."""
        return SimulatedReleases(
            plan.outputs.form.template,
            plan.space,
            plan.outputs,
            score,
            self._held_out,
            plan.reading,
            n_releases=n_releases,
            seed=seed,
        )

    def _scorer(self, plan: ParameterPlan, temperature: float) -> Callable[..., float]:
        if self._by_log:
            return lambda model, X, y: float(log_scores(model, X, y, (temperature,))[0])
        outputs = plan.outputs
        scorer = released_scorer(
            self._scoring, outputs.form.template, outputs.form.canonicalizer, self.y
        )
        return lambda model, X, y: scorer(tempered(model, temperature), X, y)
