"""What a curator is told about a release that may be poor: beside a fit, never inside it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, final

from pacsklearn._fit_report import FitReport
from pacsklearn.estimators.open_fit import OpenFit
from pacsklearn.estimators.release_kind import ReleaseKind
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.plugins.registry import registry

if TYPE_CHECKING:
    from pacsklearn.tabular.choosing.fit_plan import FitPlan


@final
class PlanRequest(NamedTuple):
    """What a curator asks to see of a fit before it releases anything.

    Parameters
    ----------
    candidates : Candidates
    target : Target
    report : FitReport
        Of the work so far.
    scoring : None, str or callable
    n_releases : int
    alternatives : bool
        Whether other models are looked at as well.
    noise : str or NoiseBackend
        For released parameters.
    why : str
        Why ``release="auto"`` releases no parameters; empty where it was stated.
    lists : iterator of (str, Candidates, Target)
        Other lists of candidates of the same rows, drawn when asked for.
    """

    candidates: Candidates
    target: Target
    report: FitReport
    scoring: Any
    n_releases: int
    alternatives: bool
    noise: Any
    why: str
    lists: Iterator[tuple[str, Candidates, Target]]


class Advice(ABC):
    """Advice about one kind of release, by its name; nothing secret is used, and nothing changed.

    What it simulates is a function of the universe and of the candidates, with noise of a public
    seed; it is asked before the secret has a part in anything, or of what has been released.
    """

    name: ClassVar[str]

    def before(self, plan: Any, candidates: Candidates) -> None:
        """Warn of a plan whose release is expected to be poor."""
        del plan, candidates

    def after(self, learned: Mapping[str, Any], candidates: Candidates) -> None:
        """Warn of what has been released."""
        del learned, candidates

    @abstractmethod
    def plan(self, kind: Any, estimator: Any, request: PlanRequest) -> FitPlan:
        """Say what a fit would release, how good it would be, and what it would cost."""


def advised(kind: ReleaseKind, fit: OpenFit) -> dict[str, Any]:
    """Plan a release and take it, with advice before and after; the attributes of the model."""
    advice, candidates = advice_on(kind), fit.rows.candidates
    plan = kind.prepare(fit)
    advice.before(plan, candidates)
    learned = kind.take(fit, plan)
    advice.after(learned, candidates)
    return learned


def advice_on(kind: ReleaseKind) -> Advice:
    """Return the advice about what a fit releases."""
    made: Advice = registry().make("advice", kind.name)
    return made
