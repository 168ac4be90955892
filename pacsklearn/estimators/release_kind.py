"""What leaves a fit: kinds of releases, each with its arguments, checks, plan and attributes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.base import BaseEstimator, is_regressor

from pacsklearn._sklearn_compat import check_parameters
from pacsklearn._validation import is_word
from pacsklearn.estimators.alternatives import options_of
from pacsklearn.estimators.open_fit import OpenFit
from pacsklearn.priors import Prior

if TYPE_CHECKING:
    from pacsklearn.estimators.pac_private import PACPrivate


class ReleaseKind(BaseEstimator, ABC):
    """What is released, and by which arguments.

    A value as scikit-learn's kernels are: it has parameters, is cloned, and nested names reach
    into it (``release__certify``). A fit changes nothing in it.

    Attributes
    ----------
    name : {"parameters", "responses", "student"}
        Of the advice about it.
    is_black_box : bool
        Whether only predictions of candidates are looked at, which are one number or label a row.
    store : {"memory", "ledger"}
        Where private answers are stored.
    prior : Prior or None
        What is publicly expected of a regressor's predictions.
    """

    name: ClassVar[str]
    is_black_box: ClassVar[bool] = True
    store: str = "memory"
    prior: Prior | None
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"prior": [None, Prior]}

    def check(self, model: PACPrivate) -> None:
        """Refuse what cannot be released as it is stated, before anything is fitted.

        Raises
        ------
        ValueError
        NoCanonicalizerError
        """
        check_parameters(self)
        if self.prior is not None:
            check_prior(model.estimator, self.prior)
        if not self.is_black_box:
            return
        name, noise = type(self).__name__, model.noise
        if not is_word(noise, "auto"):
            raise ValueError(
                f"noise is about released parameters, and {name} would be released: it would be "
                "ignored; leave noise out."
            )
        if options_of(model.estimator).is_choice:
            raise ValueError(
                f"release must be 'auto' or Parameters() for a {type(model.estimator).__name__}, "
                f"got {name}: answers hold what all candidates agree on, so choosing by "
                "their score would choose by the whole table without noise. PACPrivate.plan shows "
                "the figures of each."
            )

    def needs_list(self, estimator: Any) -> str:
        """Say why a list of candidates is needed; empty where a sampled secret serves."""
        return (
            "secret must be Subsets() where answers are released: they are calibrated to a list of "
            f"candidates, and {type(estimator).__name__} would answer. Or wrap an estimator whose "
            "parameters can be released."
        )

    @abstractmethod
    def offered(self, estimator: Any) -> Iterable[str]:
        """Return the methods of what a fit would release.

        Raises
        ------
        NoCanonicalizerError
        """

    @abstractmethod
    def prepare(self, fit: OpenFit) -> Any:
        """Return the plan of the release, up to what needs the secret; secret material."""

    @abstractmethod
    def take(self, fit: OpenFit, plan: Any) -> dict[str, Any]:
        """Release what was prepared; the attributes of the fitted model."""


def stated_release(given: Any) -> ReleaseKind | None:
    """Return what is released, by a user's argument; None where the estimator decides.

    Raises
    ------
    ValueError
    """
    if isinstance(given, ReleaseKind):
        return given
    if is_word(given, "auto"):
        return None
    shown = repr(given) if isinstance(given, (str, type)) else type(given).__name__
    raise ValueError(
        f"release must be 'auto', Parameters(...), Answers(...) or Student(...), got {shown}."
    )


def classes_of(released: Any) -> dict[str, Any]:
    """Return the attribute ``classes_`` where a released model has classes."""
    classes = getattr(released, "classes_", None)
    return {} if classes is None else {"classes_": classes}


def check_prior(estimator: Any, prior: Prior) -> None:
    """Refuse a prior that says nothing about an estimator's predictions, or is out of range.

    Raises
    ------
    ValueError
    """
    if not is_regressor(estimator):
        raise ValueError(
            f"prior is for regressors, whose predictions are numbers; {type(estimator).__name__} "
            "is no regressor, by the estimator_type of its tags. Leave prior out."
        )
    prior.normal()
