"""An estimator that stands for several, of which a fit chooses one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NoReturn, TypeVar, final

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import Tags, get_tags

from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.release.parameters import ParameterPlan
from pacsklearn.kernel.release.plan import Plan
from pacsklearn.kernel.release.release import Release

PlanT = TypeVar("PlanT", bound=Plan)

Prepare = Callable[[Any], ParameterPlan]
"""Plan of an estimator, on the candidates that the release is taken from."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ChosenPlan(Generic[PlanT]):
    """The estimator whose parameters are released, with its plan; secret material.

    Parameters
    ----------
    estimator : estimator
    plan : Plan
    verdict : Verdict, optional
        Where something was chosen: how good it is, and what else could have been; the curator's.
    """

    estimator: Any
    plan: PlanT
    verdict: Any = None

    def learned(self, release: Release) -> dict[str, Any]:
        """Return what a fit learns of the choice."""
        return {}


class Alternatives(MetaEstimatorMixin, BaseEstimator, ABC):
    """Models of which :class:`~pacsklearn.PACPrivate` releases one, for the price of one release.

    It is wrapped and never fitted by itself.

    Attributes
    ----------
    needs_list : str
        Why a sampled secret does not serve.
    scoring : None, str or callable
        What they are compared by.
    is_choice : bool
        Whether there is more than one.
    """

    scoring: Any
    needs_list: ClassVar[str]
    is_choice: ClassVar[bool] = True

    @abstractmethod
    def through(self, reading: Callable[[Any], Any]) -> Any:
        """Replace each model by what ``reading`` makes of it."""

    @property
    @abstractmethod
    def template(self) -> Any:
        """What rows are checked, and subsets drawn, for."""

    @abstractmethod
    def check(self, canonicalizer_of: Callable[[Any], Canonicalizer]) -> None:
        """Refuse models that must not be chosen among.

        Raises
        ------
        ValueError
        NoCanonicalizerError
        """

    @abstractmethod
    def choose(self, prepare: Prepare, candidates: Candidates) -> ChosenPlan[ParameterPlan]:
        """Return the plan of the model that is released."""

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> NoReturn:
        """Refuse: what is chosen is chosen inside a private fit.

        Raises
        ------
        TypeError
        """
        name = type(self).__name__
        raise TypeError(
            f"{name} is fitted inside a private estimator: PACPrivate({name}(...)).fit(X, y). "
            "Without privacy use GridSearchCV."
        )

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self.template)


@final
class OneEstimator(Alternatives):
    """The estimator that a fit releases where there is nothing to choose."""

    scoring = None
    needs_list: ClassVar[str] = ""
    is_choice: ClassVar[bool] = False

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def through(self, reading: Callable[[Any], Any]) -> Any:
        return reading(self.estimator)

    @property
    def template(self) -> Any:
        return self.estimator

    def check(self, canonicalizer_of: Callable[[Any], Canonicalizer]) -> None:
        del canonicalizer_of

    def choose(self, prepare: Prepare, candidates: Candidates) -> ChosenPlan[ParameterPlan]:
        return ChosenPlan(estimator=self.estimator, plan=prepare(self.estimator))


def options_of(estimator: Any) -> Alternatives:
    """Return what a fit of a given estimator chooses among: itself, where it is one."""
    return estimator if isinstance(estimator, Alternatives) else OneEstimator(estimator)
