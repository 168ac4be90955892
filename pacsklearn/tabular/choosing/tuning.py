"""Choosing among listed options by simulated releases, and what the choice tells."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self, final

from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid

from pacsklearn._fit_report import stage
from pacsklearn.estimators.alternatives import Alternatives, ChosenPlan, Prepare
from pacsklearn.estimators.model_digest import mark_released
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.joint.shared_work import shared_work
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.release.account import opening_belief
from pacsklearn.kernel.release.parameters import ParameterPlan
from pacsklearn.kernel.release.release import Release
from pacsklearn.tabular.choosing.judge import FIRST_RELEASES, Judge
from pacsklearn.tabular.choosing.log_score import is_tempered, temperatures_of, tempered
from pacsklearn.tabular.choosing.option import Option, check_differences, check_entry
from pacsklearn.tabular.choosing.simulated_releases import SEED
from pacsklearn.tabular.choosing.verdict import Utility, Verdict
from pacsklearn.universe.row_rules import check_is_estimator, check_readable

MOST_OPTIONS = 64
"""So that a choice on the whole table is at most ``ln 64`` nats about it."""

_RELEASES = 32
_HOPELESS = 3.0
_AGREED = "all candidates agree on it, so it is a function of the whole table, without noise"


@final
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Choice(ChosenPlan[ParameterPlan]):
    """The option whose simulated releases score best; secret material but for the option.

    Parameters
    ----------
    estimator, plan, verdict
        Of the option that was chosen, as for :class:`ChosenPlan`.
    option : Option
    outcomes : int
        How many different things the call could have released, whichever was chosen.
    """

    option: Option
    outcomes: int

    def learned(self, release: Release) -> dict[str, Any]:
        """Return the choice, with the guarantee that states it."""
        assert isinstance(release.guarantee, PACGuarantee)
        about = ""
        if is_tempered(self.estimator):
            about = (
                "; weights of the decision are divided by a temperature, of public constants: "
                f"{self.verdict.expected.temperature:.4g}"
            )
        stated = self.stated(release.guarantee, about)
        model = tempered(release.value, self.verdict.expected.temperature)
        # Anew: the statement with the choice, and the weights, are those that go with the model.
        mark_released(model, stated)
        return {
            "_guarantee": stated,
            "best_estimator_": clone(self.option.estimator),
            "best_params_": dict(self.option.params),
            "verdict_": self.verdict,
        }

    def stated(self, guarantee: PACGuarantee, about: str = "") -> PACGuarantee:
        """Return guarantee that says among how many outcomes was chosen, and what that may tell."""
        nats = math.log(self.outcomes)
        choice = (
            f"1 of {self.outcomes} possible outcomes, by simulated releases over all candidates: "
            f"at most ln {self.outcomes} = {nats:.4g} nats about the whole table{about}"
        )
        return replace(
            guarantee,
            details=(*guarantee.details, ("choice", choice)),
            not_covered=(
                *guarantee.not_covered,
                (
                    f"Which of the {self.outcomes} possible outcomes was chosen: a function of the "
                    "whole table, like the metric, and not of which rows were used."
                ),
            ),
        )


@dataclass(eq=False, repr=False)
class Tuned(Alternatives):
    """Several options of a model, of which :class:`PACPrivate` releases one.

    The option whose simulated releases score best is released, for the price of one release. The
    choice is a function of the whole table, like the metric: the guarantee states
    ``ln(outcomes)``. Answers cannot be chosen among.

    Parameters
    ----------
    estimator : estimator or list of estimators
        What is chosen from: one, with the values of ``grid``, or each of several.
    grid : dict or list of dict, default=None
        Values of the estimators' parameters, by the estimators' own names, as for a grid search.
        With the estimators at most 64 options. Seeds, starting points, priors, constants and
        thresholds are never tuned.
    scoring : None, str or callable, default=None
        What is compared, by any name of scikit-learn's: None is the log-probability of the true
        classes plus accuracy for classifiers, a strictly proper score, and ``score`` for others.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import LinearSVC
    >>> from pacsklearn import PACPrivate, Tuned
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> options = Tuned(
    ...     make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc__C": [1e-4, 1e-2, 1]}
    ... )
    >>> model = PACPrivate(options, budget=1 / 16).fit(X, y)
    >>> len(model.verdict_.options)
    3
    """

    estimator: Any
    grid: Any = None
    scoring: Any = None

    needs_list: ClassVar[str] = (
        "secret must be Subsets() with Tuned: options are compared by releases that are simulated "
        "over a list of candidates, and SampledSubsets() has none."
    )

    @property
    def template(self) -> Any:
        """First of the estimators: rows are checked, and subsets drawn, for it."""
        return self._reading(self._listed()[0])

    def through(self, reading: Callable[[Any], Any]) -> Self:
        read = copy.copy(self)
        read.__dict__["_reading"] = reading
        return read

    def check(self, canonicalizer_of: Callable[[Any], Canonicalizer]) -> None:
        for option in self.options():
            try:
                canonicalizer_of(option.estimator)
            except NoCanonicalizerError as error:
                raise NoCanonicalizerError(
                    f"grid: the option {option.name} cannot be released as parameters, and answers "
                    "cannot be chosen among: they hold what all candidates agree on, so that "
                    "choosing by their score would choose by the whole table without noise. "
                    f"{error}"
                ) from None

    def choose(self, prepare: Prepare, candidates: Candidates) -> Choice:
        """Choose the option whose simulated releases score best."""
        return choose(self.options(), prepare, Judge(candidates, self.scoring))

    def options(self) -> list[Option]:
        """List the options of the grid, checked.

        Raises
        ------
        ValueError
            When there are more than 64, or one differs in what must not be tuned.
        TypeError
            When one is no estimator, or lists options itself.
        """
        listed = self._listed()
        try:
            grid = list(ParameterGrid({} if self.grid is None else self.grid))
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"grid must be a dict of lists, or a list of such dicts, as for a grid search: "
                f"{error}"
            ) from None
        n_options = len(listed) * len(grid)
        if not 1 <= n_options <= MOST_OPTIONS:
            raise ValueError(
                f"grid must list between 1 and {MOST_OPTIONS} options, got {n_options}: a choice "
                "made on the whole table tells up to ln(outcomes) nats about it. List fewer."
            )
        for params in grid:
            for name, value in params.items():
                check_entry(name, value)
        named = len(listed) > 1
        options = [Option.of(one, params, named=named) for one in listed for params in grid]
        options = [replace(option, estimator=self._reading(option.estimator)) for option in options]
        check_differences(options)
        for option in options:
            if is_classifier(option.estimator) != is_classifier(self.template):
                raise ValueError(
                    f"grid: the option {option.name} and the first must both be classifiers, or "
                    "neither: the subsets are drawn for one of them."
                )
        return options

    def _reading(self, estimator: Any) -> Any:
        """Return an option as it reads the table; replaced where a codebook says how."""
        return estimator

    def _listed(self) -> list[Any]:
        listed = (
            list(self.estimator) if isinstance(self.estimator, (list, tuple)) else [self.estimator]
        )
        if not listed:
            raise ValueError("estimator must be an estimator or a list of them, got none.")
        for one in listed:
            check_is_estimator(one)
            check_readable(one)
            if isinstance(one, Alternatives):
                raise TypeError(
                    f"{type(one).__name__} lists options and cannot be one itself: list the models "
                    "that it chooses from."
                )
        return listed


@shared_work()
def choose(options: list[Option], prepare: Prepare, judge: Judge, *, constants: int = 0) -> Choice:
    """Simulate releases of every option over the same candidates; the largest merit wins.

    Parameters
    ----------
    options : list of Option
    prepare : callable
        Plan of an option's estimator, on the candidates that the release is taken from.
    judge : Judge
    constants : int, default=0
        How many constants may be released in place of all options.

    Notes
    -----
    Everything is a function of the universe and of the candidates, with noise of a public seed: the
    secret has no part in it. Ties go to the option that is listed first. An option that is behind
    the best so far by three standard errors of their difference, over eight releases of the same
    draws, is not simulated further, and listed after those that are. Options are compared by
    estimated laws; the winner alone is certified, with more noise where that fails, and its figure
    is that of fresh draws by the law that is released: the best of several looks better than it is
    by those it won by.
    """
    room = max((MOST_OPTIONS - constants) // len(options), 1)
    ladders = [temperatures_of(option.estimator, room) for option in options]
    scores: list[Utility] = []
    best: tuple[Utility, Option, ParameterPlan] | None = None
    for option, ladder in zip(options, ladders, strict=True):
        plan = prepare(option.estimator)
        with stage("calibration"):  # see ``NoiseBackend.estimate``
            support = plan.outputs.support(opening_belief(plan.space.weights))
            law = plan.backend.estimate(support, plan.target, plan.cost)
        expected = partial(judge.utility, option.name, plan, temperatures=ladder, law=law)
        score = expected(n_releases=_RELEASES if best is None else FIRST_RELEASES)
        if best is not None and score.behind(best[0], in_merit=True) <= _HOPELESS:
            score = expected(n_releases=_RELEASES)
        if not math.isfinite(score.merit):
            raise ValueError(
                f"scoring gave no finite number (nan, infinity) for simulated releases of "
                f"{option.name}, so nothing can be compared by it: give a score that is defined on "
                "the rows outside a subset, where these are of one class as well."
            )
        # Exact for every candidate, it would win by what the whole table says.
        if law.dimension == 0:
            score = replace(score, why_not=_AGREED)
        # Strictly: the first of equals, whatever order the scores come in.
        elif best is None or (len(score.scores) == _RELEASES and score.merit > best[0].merit):
            best = score, option, plan
        scores.append(score)
    if best is None:
        raise ValueError(
            "grid: the candidates agree on every listed option, so nothing would be noised and "
            "choosing would choose by the whole table. List models that depend on their rows, and "
            "look whether y holds more than one value."
        )
    won, option, plan = best
    order = sorted(
        scores, key=lambda score: (bool(score.why_not), -len(score.scores), -score.merit)
    )
    fresh = judge.utility(option.name, plan, _RELEASES, (won.temperature,), seed=SEED + 1)
    others = tuple(score for score in order if score is not won)
    reference = judge.reference(plan, fresh, seed=SEED + 1)
    # Margins are only read at a temperature; weights are released divided by one.
    counts = [
        len(ladder) if is_tempered(each.estimator) else 1
        for each, ladder in zip(options, ladders, strict=True)
    ]
    return Choice(
        estimator=option.estimator,
        plan=plan,
        verdict=Verdict(judge.scoring(plan), (fresh, *others), reference),
        option=option,
        # Fixed by the arguments: counted after the choice, it would tell which way that went.
        outcomes=constants + sum(counts),
    )
