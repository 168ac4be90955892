"""The best of several models, or the public constant that none of them beats."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

from pacsklearn._validation import warn_user
from pacsklearn.estimators.alternatives import Prepare
from pacsklearn.estimators.model_digest import mark_released
from pacsklearn.estimators.open_fit import Opening
from pacsklearn.exceptions import UtilityWarning
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.priors import Constant
from pacsklearn.tabular.choosing.judge import Judge
from pacsklearn.tabular.choosing.tuning import MOST_OPTIONS, Choice, Tuned, choose
from pacsklearn.tabular.choosing.verdict import constant_name


class NothingBeatsTheConstant(Exception):  # noqa: N818 - no error: Auto catches it
    """Raised before anything is charged or drawn.

    Parameters
    ----------
    candidates : Candidates
    choice : Choice
    constant : estimator
        Fitted: what is released.
    """

    def __init__(self, candidates: Candidates, choice: Choice, constant: Any) -> None:
        super().__init__()
        self.candidates, self.choice, self.constant = candidates, choice, constant

    def released(self, budget: Budget) -> tuple[Any, PACGuarantee]:
        """Return the constant and its guarantee; nothing is drawn, and nothing charged."""
        space = self.candidates.space
        warn_user(
            "Nothing on the list is expected to beat a constant under this budget: "
            f"{constant_name(self.constant)} is what is released, and nothing was charged. A "
            "larger budget, a public schema, a cap such as Membership(0.6), or "
            "families=Student(...) may help.",
            UtilityWarning,
        )
        promised = Opening(budget).procedure(space).guarantee()
        capped = budget.criterion(space)
        guarantee = replace(
            promised,
            spent=0.0 if capped is None else float(capped.prior(space.weights).max()),
            mutual_information=None if capped is None else 0.0,
            n_releases=1,
            metered=0.0,
            bound="nothing that is released depends on which rows were used",
            released=(),
            public=("a constant answer", "classes_"),
        )
        guarantee = self.choice.stated(guarantee)
        return mark_released(self.constant, guarantee), guarantee


@final
@dataclass(eq=False, repr=False)
class ModelOrConstant(Tuned):
    """Options of which none may be released: where no one is expected to beat a constant.

    Parameters
    ----------
    estimator, grid, scoring
        As for :class:`Tuned`; at most 63 options.
    prior : Constant, optional
        Public probabilities of the classes.
    stops : bool, default=True
        Raise where the constant is released; a plan goes on.
    """

    prior: Constant | None = None
    stops: bool = True

    def choose(self, prepare: Prepare, candidates: Candidates) -> Choice:
        """Return the best option, with the constant among the outcomes.

        Raises
        ------
        NothingBeatsTheConstant
        """
        options = self.options()
        if len(options) >= MOST_OPTIONS:
            raise ValueError(
                f"families must list at most {MOST_OPTIONS - 1} estimators, got {len(options)}: a "
                "choice made on the whole table tells up to ln(outcomes) nats about it, and a "
                "constant is an outcome too. List fewer."
            )
        judge = Judge(candidates, self.scoring, self.prior)
        choice = choose(options, prepare, judge, constants=1)
        if self.stops and not choice.verdict.beats_reference:
            raise NothingBeatsTheConstant(candidates, choice, judge.constant(choice.plan))
        return choice
