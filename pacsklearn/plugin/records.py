"""What a plugin hands over: where an object is and what it is for, without importing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, final

from pacsklearn.plugin.qualified_name import is_dotted_name

__all__ = [
    "AttackRecord",
    "BatchPredictorRecord",
    "CanonicalizerRecord",
    "NoiseBackendRecord",
    "Record",
    "ScenarioRecord",
    "SubsetFitterRecord",
]


@final
@dataclass(frozen=True)
class CanonicalizerRecord:
    """A canonicalizer and the estimators it supports.

    Parameters
    ----------
    name : str
        Unique among the canonicalizers; accepted by ``PACPrivate(canonicalizer=name)``.
    target : str, class or callable
        ``"package.module:Object"``, or the :class:`~pacsklearn.core.canonicalizer.Canonicalizer`
        subclass itself, or a callable without arguments that returns an instance.
    estimators : tuple of str or classes
        Qualified names such as ``"sklearn.svm.LinearSVC"``; a subclass is supported through the
        nearest class it derives from. Give the class object for one defined in a notebook, a
        script or a function.
    description : str
        One line for listings.

    Raises
    ------
    ValueError
        When a field is not of that form.

    Examples
    --------
    >>> CanonicalizerRecord(
    ...     "dummy", "clinic.private:DummyCanonicalizer", ("sklearn.dummy.DummyRegressor",)
    ... ).name
    'dummy'
    """

    name: str
    target: Any
    estimators: tuple[str | type, ...] = ()
    description: str = ""

    def __post_init__(self) -> None:
        _check_fields(self)
        object.__setattr__(self, "estimators", _claimed("canonicalizer", self))


@final
@dataclass(frozen=True)
class BatchPredictorRecord:
    """A batch predictor and the estimators whose private responses it makes fast.

    Parameters
    ----------
    name : str
        Unique among the batch predictors.
    target : str or class
        ``"package.module:Object"``, or the
        :class:`~pacsklearn.core.batch_predictor.BatchPredictor` subclass itself.
    estimators : tuple of str or classes
        As for a :class:`CanonicalizerRecord`.
    description : str
        One line for listings.

    Raises
    ------
    ValueError
        When a field is not of that form.
    """

    name: str
    target: Any
    estimators: tuple[str | type, ...] = ()
    description: str = ""

    def __post_init__(self) -> None:
        _check_fields(self)
        object.__setattr__(self, "estimators", _claimed("batch predictor", self))


@final
@dataclass(frozen=True)
class SubsetFitterRecord:
    """A subset fitter and the estimators whose m candidates it fits at once.

    Parameters
    ----------
    name : str
        Unique among the subset fitters.
    target : str or class
        ``"package.module:Object"``, or the
        :class:`~pacsklearn.core.subset_fitter.SubsetFitter` subclass itself.
    estimators : tuple of str or classes
        As for a :class:`CanonicalizerRecord`.
    description : str
        One line for listings.

    Raises
    ------
    ValueError
        When a field is not of that form.
    """

    name: str
    target: Any
    estimators: tuple[str | type, ...] = ()
    description: str = ""

    def __post_init__(self) -> None:
        _check_fields(self)
        object.__setattr__(self, "estimators", _claimed("subset fitter", self))


@final
@dataclass(frozen=True)
class NoiseBackendRecord:
    """A method of calibrating noise.

    Parameters
    ----------
    name : str
        Unique among the noise backends; accepted by ``PACPrivate(noise=name)``.
    target : str, class or callable
        ``"package.module:Object"``, or the
        :class:`~pacsklearn.core.noise_backend.NoiseBackend` subclass itself, or a callable
        without arguments that returns an instance.
    description : str
        One line for listings.
    """

    name: str
    target: Any
    description: str = ""

    def __post_init__(self) -> None:
        _check_fields(self)


@final
@dataclass(frozen=True)
class ScenarioRecord:
    """A Pufferfish scenario: secrets, pairs, priors and a sampler for each.

    Parameters
    ----------
    name : str
        Unique among the scenarios.
    target : str, class or callable
        ``"package.module:Object"`` or the object itself.
    description : str
        One line for listings.
    """

    name: str
    target: Any
    description: str = ""

    def __post_init__(self) -> None:
        _check_fields(self)


@final
@dataclass(frozen=True)
class AttackRecord:
    """An attack that measures a lower bound on the leakage.

    Parameters
    ----------
    name : str
        Unique among the attacks.
    target : str, class or callable
        ``"package.module:Object"`` or the object itself.
    description : str
        One line for listings.
    """

    name: str
    target: Any
    description: str = ""

    def __post_init__(self) -> None:
        _check_fields(self)


Record: TypeAlias = (
    CanonicalizerRecord
    | BatchPredictorRecord
    | SubsetFitterRecord
    | NoiseBackendRecord
    | ScenarioRecord
    | AttackRecord
)


def _claimed(
    noun: str, record: CanonicalizerRecord | BatchPredictorRecord | SubsetFitterRecord
) -> tuple[str | type, ...]:
    given: Any = record.estimators
    claimed: tuple[Any, ...] = (given,) if isinstance(given, (str, type)) else tuple(given)
    for claim in claimed:
        if not isinstance(claim, type) and not is_dotted_name(claim):
            raise ValueError(
                f"estimators of the {noun} {record.name!r} must be classes or qualified names such "
                f"as 'sklearn.svm.LinearSVC', got {claim!r}."
            )
    return claimed


def _check_fields(record: Record) -> None:
    kind = type(record).__name__
    name: object = record.name
    target: object = record.target
    if not isinstance(name, str) or not name or name != name.strip() or name == "auto":
        raise ValueError(
            f"name of a {kind} must be a non-empty string without surrounding space, and not "
            f"'auto', got {name!r}."
        )
    if isinstance(target, str):
        module, separator, qualname = target.partition(":")
        if not (separator and is_dotted_name(module, 1) and is_dotted_name(qualname, 1)):
            raise ValueError(
                f"target of the {kind} {name!r} must read 'package.module:Object', got {target!r}."
            )
    elif not callable(target):
        raise ValueError(
            f"target of the {kind} {name!r} must be 'package.module:Object', a class or a callable "
            f"that returns an instance, got an object of type {type(target).__name__}."
        )
    if not isinstance(record.description, str):
        raise ValueError(
            f"description of the {kind} {name!r} must be a string, got an object of type "
            f"{type(record.description).__name__}."
        )
