"""What a fit would release and how good it would be, for the curator's eyes."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, final

from sklearn.base import clone, is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn.kernel.guarantee.statement_rendering import percent_up
from pacsklearn.tabular.choosing.privacy_utility_curve import CURATOR_ONLY
from pacsklearn.tabular.choosing.verdict import Utility, Verdict, decimals

_WIDTH = 88
_NAME = 20


@final
class OfList(NamedTuple):
    """What a list of candidates gives for what it tells.

    Parameters
    ----------
    utility : Utility
        Of releases over it.
    noise : float
        As of the plan.
    known : float
        Largest success, before any release, at a row of whoever knows one other and the list.
    """

    utility: Utility
    noise: float
    known: float

    def __str__(self) -> str:
        return (
            f"{self.utility.name}: {self.utility}; noise {self.noise:.3g}; who knows the list and "
            f"one row tells another's with a success of {percent_up(self.known)} % at most"
        )


@final
@dataclass(frozen=True, eq=False, repr=False)
class FitPlan:
    """What ``fit`` would release, how good it would be, and what it would cost.

    Made by :meth:`PACPrivate.plan`. ``print`` shows it. It is for the curator's eyes: no guarantee
    covers it, no released artefact holds it, and it cannot be pickled.

    Parameters
    ----------
    estimator : str
    route : {"parameters", "responses", "student"}
        What would be released.
    why : str
        Why that, and not something else.
    promise : str
        What would be promised.
    public : tuple of str
        What would be released without noise.
    n_numbers : int
        Numbers in the released vector, or queries answered.
    n_noised : int
        Directions of it that candidates differ in, or queries that are contested.
    signal, noise : float
        Size of the average candidate's vector and of the noise (root of the total variance), both
        as the metric measures them; nan for answers.
    verdict : Verdict
        Utility of releases under the budget and of options that are not released, beside the
        public constant.
    without_noise : float
        Mean score of the same candidates' models as they are; nan for answers and students.
    at_null_budget : Utility, optional
        Answers and students: their score at 1e-9 nat. What it has above the constant's is a
        function of the whole table, and is not bought by the budget.
    seconds : float
        Wall time of the candidates' fits and of the calibration.
    alternative : Utility, optional
        Best of a few steadier models behind the same preprocessing.
    advice : tuple of str
        What would help.
    lists : tuple of OfList
        Candidates in other blocks, those as stated first.
    """

    estimator: str
    route: str
    why: str
    promise: str
    public: tuple[str, ...]
    n_numbers: int
    n_noised: int
    verdict: Verdict
    at_null_budget: Utility | None
    seconds: float
    signal: float = math.nan
    noise: float = math.nan
    without_noise: float = math.nan
    alternative: Utility | None = None
    advice: tuple[str, ...] = ()
    lists: tuple[OfList, ...] = ()

    @property
    def expected(self) -> Utility:
        """Utility of what is released."""
        return self.verdict.expected

    def __str__(self) -> str:
        lines = [f"Plan of {self.estimator}: what fit would release", ""]
        for name, text in self._rows():
            lines += textwrap.wrap(
                text,
                _WIDTH,
                initial_indent=f"  {name:<{_NAME - 1}} ",
                subsequent_indent=" " * (_NAME + 2),
                break_on_hyphens=False,
            )
        return "\n".join([*lines, "", *textwrap.wrap(CURATOR_ONLY, _WIDTH)])

    def _rows(self) -> list[tuple[str, str]]:
        rows = [
            ("released", f"{self.route}: {self.why}"),
            ("promise", self.promise),
            ("public", ", ".join(self.public)),
            ("numbers", self._numbers()),
        ]
        if not math.isnan(self.noise):
            rows.append(("noise", f"{self.noise:.3g} beside a signal of {self.signal:.3g}"))
        rows.append((f"expected {self.verdict.scoring}", str(self.expected)))
        if not math.isnan(self.without_noise):
            rows.append(("without noise", f"{decimals(self.without_noise)}, not private"))
        reference = self.verdict.reference
        if reference.scores:
            rows.append(("a constant", f"{decimals(reference.mean)}: {reference.name}"))
        if self.at_null_budget is not None:
            rows.append(
                (
                    "at 1e-9 nat",
                    (
                        f"{decimals(self.at_null_budget.mean)}: this much is a function of the "
                        "whole table, and not the price of the budget"
                    ),
                )
            )
        if len(self.verdict.options) > 1 or self.expected.name != self.estimator:
            best, *others = map(_option, self.verdict.options)
            rows += [("best option", best), *(("option", each) for each in others)]
        if self.alternative is not None:
            rows.append(("alternative", _option(self.alternative)))
        rows += [("candidates", str(each)) for each in self.lists]
        rows.append(("time", f"{self.seconds:.2g} s for the candidates' fits and the noise"))
        return rows + [("advice", text) for text in self.advice]

    def _numbers(self) -> str:
        if self.route == "parameters":
            return f"{self.n_numbers} released, noise in {self.n_noised} directions"
        share = 100 * self.n_noised / max(self.n_numbers, 1)
        return f"{self.n_numbers} queries, candidates disagree on {self.n_noised} ({share:.1f} %)"

    def __repr__(self) -> str:
        return "FitPlan(for the curator's eyes: print it)"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A FitPlan holds scores from the private rows, for the curator's eyes, and cannot "
            "be pickled or copied; print it."
        )


def _option(option: Any) -> str:
    return f"{option.name}: {option}" + (f"; not chosen: {option.why_not}" * bool(option.why_not))


def steadier_models(estimator: Any) -> dict[str, Any]:
    """Return the shrunken linear models in place of an estimator's last step, by name.

    Parameters
    ----------
    estimator : estimator
        A pipeline keeps its other steps, and all names; anything else gets a scaler before the
        model.
    """
    if is_classifier(estimator):
        models = {
            "LogisticRegression(C=0.001)": LogisticRegression(C=1e-3),
            "LogisticRegression(C=1e-05)": LogisticRegression(C=1e-5),
            "LinearDiscriminantAnalysis(shrinkage=0.9)": LinearDiscriminantAnalysis(
                solver="lsqr", shrinkage=0.9
            ),
        }
    else:
        models = {f"Ridge(alpha={alpha:g})": Ridge(alpha=alpha) for alpha in (1e2, 1e4)}
    return {name: _behind(estimator, model) for name, model in models.items()}


def _behind(estimator: Any, model: Any) -> Any:
    if isinstance(estimator, Pipeline):
        return clone(estimator).set_params(**{estimator.steps[-1][0]: model})
    return make_pipeline(StandardScaler(), model)
