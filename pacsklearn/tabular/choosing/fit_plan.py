"""What a fit would release and how good it would be, for the curator's eyes."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import Any, NoReturn, final

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn.tabular.choosing.privacy_utility_curve import CURATOR_ONLY

_WIDTH = 88
_NAME = 20


@final
@dataclass(frozen=True)
class ExpectedScore:
    """Scores of simulated releases of one estimator.

    Parameters
    ----------
    name : str
        What was simulated.
    scores : tuple of float
        One a simulated release, on rows outside the drawn subset; none where it was left out.
    why_not : str
        Why it may not be chosen; empty where it may.
    """

    name: str
    scores: tuple[float, ...]
    why_not: str = ""

    @property
    def mean(self) -> float:
        """Expected score of a release."""
        return float(np.mean(self.scores)) if self.scores else math.nan

    @property
    def spread(self) -> float:
        """Standard deviation of single releases about it."""
        return float(np.std(self.scores, ddof=1)) if len(self.scores) > 1 else 0.0

    @property
    def standard_error(self) -> float:
        """Standard error of :attr:`mean`, from the simulated releases alone."""
        return self.spread / math.sqrt(len(self.scores))

    def __str__(self) -> str:
        return f"{self.mean:.3f} +- {self.spread:.3f} a release (s.e. {self.standard_error:.2g})"


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
    scoring : str
    expected : ExpectedScore
        Of releases under the budget.
    without_noise : float
        Mean score of the same candidates' models as they are; nan for answers and students.
    constant : float
        Score of the best constant answer; nan where it cannot be scored.
    at_null_budget : ExpectedScore, optional
        Answers and students: their score at 1e-9 nat. What it has above ``constant`` is a function
        of the whole table, and is not bought by the budget.
    seconds : float
        Wall time of the candidates' fits and of the calibration.
    leaderboard : tuple of ExpectedScore
        Listed options, best first, where there is something to choose (``tune``).
    alternative : ExpectedScore, optional
        Best of a few steadier models behind the same preprocessing.
    advice : tuple of str
        What would help.
    """

    estimator: str
    route: str
    why: str
    promise: str
    public: tuple[str, ...]
    n_numbers: int
    n_noised: int
    scoring: str
    expected: ExpectedScore
    constant: float
    at_null_budget: ExpectedScore | None
    seconds: float
    signal: float = math.nan
    noise: float = math.nan
    without_noise: float = math.nan
    leaderboard: tuple[ExpectedScore, ...] = ()
    alternative: ExpectedScore | None = None
    advice: tuple[str, ...] = ()

    @property
    def beats_constant(self) -> bool:
        """Whether a release is expected to be better than the best constant."""
        return not self.expected.mean <= self.constant

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
        rows.append((f"expected {self.scoring}", str(self.expected)))
        if not math.isnan(self.without_noise):
            rows.append(("without noise", f"{self.without_noise:.3f}, not private"))
        if not math.isnan(self.constant):
            rows.append(("a constant", f"{self.constant:.3f}"))
        if self.at_null_budget is not None:
            rows.append(
                (
                    "at 1e-9 nat",
                    (
                        f"{self.at_null_budget.mean:.3f}: this much is a function of the whole "
                        "table, and not the price of the budget"
                    ),
                )
            )
        rows += [("option", f"{_option(each)}") for each in self.leaderboard]
        if self.alternative is not None:
            rows.append(("alternative", _option(self.alternative)))
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
    """Shrunken linear models in place of an estimator's last step, by name.

    Parameters
    ----------
    estimator : estimator
        A pipeline keeps its other steps; anything else gets a scaler before the model.
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
        steps = [step for _, step in estimator.steps[:-1]]
        return make_pipeline(*(clone(step) for step in steps), model)
    return make_pipeline(StandardScaler(), model)
