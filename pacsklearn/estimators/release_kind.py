"""What leaves a fit: kinds of releases, each with its arguments, checks, plan and attributes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

from sklearn.base import is_regressor

from pacsklearn.estimators.open_fit import OpenFit
from pacsklearn.kernel.plugins.registry import registry


def about(text: str, *, set_by_checks: bool = False) -> dict[str, Any]:
    """What an argument of a release kind is about, for who states it where it has no effect.

    ``set_by_checks``: scikit-learn's checks set it on any regressor that has it.
    """
    return {"about": text, "set_by_checks": set_by_checks}


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleaseKind(ABC):
    """What is released, and by which arguments.

    The arguments are fields, named as an estimator's parameters are; those whose
    metadata say what they are :func:`about` are refused where another kind would be released.

    Parameters
    ----------
    value_range : (float, float), optional
    prior_mean : float, optional

    Attributes
    ----------
    name : str
        For the registry.
    released_as : {"parameters", "responses", "student"}
        Name in ``released_as_``, and of the advice about it.
    noun, spelling : str
        What is released, and how a user asks for it, in words.
    is_black_box : bool
        Whether only predictions of candidates are looked at, which are one number or label a row.
    needs_list : str
        Why it needs a list of candidates; empty where a sampled secret serves.
    """

    name: ClassVar[str]
    released_as: ClassVar[str]
    noun: ClassVar[str]
    spelling: ClassVar[str]
    is_black_box: ClassVar[bool] = True
    needs_list: ClassVar[str] = (
        "secret_space='sampled' is for released parameters: answers are calibrated to a list of "
        "candidates, and {} would answer. Use secret_space='listed', or an estimator whose "
        "parameters can be released."
    )

    value_range: Any = field(default=None, metadata=about("predictions of regressors"))
    prior_mean: Any = field(default=None, metadata=about("predictions of regressors"))

    @classmethod
    def of(cls, model: Any) -> Self:
        """The kind with its arguments as an estimator's parameters state them."""
        return cls(**{each.name: getattr(model, each.name) for each in _arguments(cls)})

    def check(self, model: Any) -> None:
        """Refuse what cannot be released as it is stated, before anything is fitted.

        Raises
        ------
        ValueError
            Among others for an argument of another kind, which would be ignored.
        NoCanonicalizerError
        """
        estimator = model.estimator
        for name in ("value_range", "prior_mean"):
            if getattr(self, name) is not None and not is_regressor(estimator):
                raise ValueError(
                    f"{name} is for regressors, whose predictions are numbers; "
                    f"{type(estimator).__name__} is none. Leave it out."
                )
        self.refuse_others(model)

    def refuse_others(self, model: Any) -> None:
        """Refuse arguments of other kinds, which would be ignored.

        Raises
        ------
        ValueError
        """
        estimator = model.estimator
        own = {each.name for each in _arguments(type(self))}
        for other in registry().registrations("release_kind"):
            for each in _arguments(other.made):
                if each.name in own or not _is_stated(getattr(model, each.name), each.default):
                    continue
                if each.metadata["set_by_checks"] and is_regressor(estimator):
                    continue
                way_out = f"leave {each.name} out"
                if model.release == "auto" and not self.is_black_box:
                    way_out = f"give {other.made.spelling} as well, or {way_out}"
                raise ValueError(
                    f"{each.name} is about {each.metadata['about']}, and {self.noun} of "
                    f"{type(estimator).__name__} would be released (release={model.release!r}): "
                    f"it would be ignored; {way_out}."
                )

    @abstractmethod
    def offered(self, estimator: Any) -> Iterable[str]:
        """Methods of what a fit would release.

        Raises
        ------
        NoCanonicalizerError
        """

    @abstractmethod
    def prepare(self, fit: OpenFit) -> Any:
        """Plan of the release, up to what needs the secret; secret material."""

    @abstractmethod
    def take(self, model: Any, fit: OpenFit, plan: Any) -> dict[str, Any]:
        """Release what was prepared; the attributes of the fitted ``model``."""


def classes_of(released: Any) -> dict[str, Any]:
    """Attribute ``classes_`` where a released model has classes."""
    classes = getattr(released, "classes_", None)
    return {} if classes is None else {"classes_": classes}


def _arguments(kind: type[ReleaseKind]) -> list[Any]:
    return [each for each in fields(kind) if "about" in each.metadata]


def _is_stated(value: Any, default: Any) -> bool:
    if value is default or value is False:
        return False
    return not (isinstance(value, str) and value == default)
