"""Kinds of plugins: what each hands over, and what it has to be; nothing heavy is imported.

:data:`KINDS` is the one table of them. Hooks, resolving, listings and the test of the docs follow
from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeAlias, final

from pacsklearn.audit.attack import Attack
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.guarantee.public_path import public_path
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.outputs.batch_predictor import BatchPredictor
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter
from pacsklearn.srpp.scenarios.scenario import Scenario


def is_dotted_name(value: object, minimum: int = 2) -> bool:
    """Whether ``value`` is a string of at least ``minimum`` identifiers joined by dots."""
    if not isinstance(value, str):
        return False
    parts = value.split(".")
    return len(parts) >= minimum and all(part.isidentifier() for part in parts)


def public_name(name: str) -> str:
    """Dotted name without the private components on its path.

    Examples
    --------
    >>> public_name("sklearn.svm._classes.LinearSVC")
    'sklearn.svm.LinearSVC'
    """
    *path, last = name.split(".")
    return ".".join([*(part for part in path if not part.startswith("_")), last])


def public_names(cls: type) -> tuple[str, ...]:
    """Names that claim ``cls``; none for a class that no other process could import.

    Parameters
    ----------
    cls : type

    Returns
    -------
    tuple of str
        The path without its private components, the shortest that it is imported by, and the path
        cut at the first private one, since ``sklearn.linear_model._glm.glm`` exports to
        ``sklearn.linear_model``.

    Examples
    --------
    >>> from pathlib import PurePath
    >>> public_names(PurePath)[0]
    'pathlib.PurePath'
    """
    module, qualname = cls.__module__, cls.__qualname__
    if module == "__main__" or "<locals>" in qualname:
        return ()
    path = module.split(".")
    private = [i for i, part in enumerate(path) if part.startswith("_")]
    names = [public_name(f"{module}.{qualname}"), ".".join(public_path(cls))]
    if private and private[0] > 0:
        names.append(public_name(".".join([*path[: private[0]], qualname])))
    return tuple(dict.fromkeys(names))


Kind: TypeAlias = str
"""Name of a kind of plugin: a key of :data:`KINDS`."""


@dataclass(frozen=True)
class Record:
    """What a plugin is called and where it is.

    Parameters
    ----------
    name : str
        Unique among its kind.
    target : str, class or callable
        ``"package.module:Object"``, or the object itself: a class, or a callable that makes an
        instance.

    Raises
    ------
    ValueError
        When a field is not of that form.
    """

    kind: ClassVar[Kind]
    hook: ClassVar[str]
    makes: ClassVar[type]

    name: str
    target: Any

    def __post_init__(self) -> None:
        record = type(self).__name__
        name: object = self.name
        target: object = self.target
        if not isinstance(name, str) or not name or name != name.strip() or name == "auto":
            raise ValueError(
                f"name of a {record} must be a non-empty string without surrounding space, and not "
                f"'auto', got {name!r}."
            )
        if isinstance(target, str):
            module, separator, qualname = target.partition(":")
            if not (separator and is_dotted_name(module, 1) and is_dotted_name(qualname, 1)):
                raise ValueError(
                    f"target of the {record} {name!r} must read 'package.module:Object', got "
                    f"{target!r}."
                )
        elif not callable(target):
            raise ValueError(
                f"target of the {record} {name!r} must be 'package.module:Object', a class or a "
                f"callable that returns an instance, got an object of type {type(target).__name__}."
            )
        described: object = self.description
        if not isinstance(described, str):
            raise ValueError(
                f"description of the {record} {name!r} must be a string, got an object of type "
                f"{type(described).__name__}."
            )

    @property
    def description(self) -> str:
        """One line for listings; a field of the records, at the end of each."""
        return ""

    @property
    def noun(self) -> str:
        """The kind in words."""
        return self.kind.replace("_", " ")


@dataclass(frozen=True)
class DescribedRecord(Record):
    """A record that is found by its name alone."""

    description: str = ""


@dataclass(frozen=True)
class ClaimingRecord(Record):
    """A record that is found by the estimators that it claims."""

    estimators: tuple[str | type, ...] = ()
    description: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.estimators
        claimed: tuple[Any, ...] = (given,) if isinstance(given, (str, type)) else tuple(given)
        for claim in claimed:
            if not isinstance(claim, type) and not is_dotted_name(claim):
                raise ValueError(
                    f"estimators of the {self.noun} {self.name!r} must be classes or qualified "
                    f"names such as 'sklearn.svm.LinearSVC', got {claim!r}."
                )
        object.__setattr__(self, "estimators", claimed)


@final
@dataclass(frozen=True)
class CanonicalizerRecord(ClaimingRecord):
    """A canonicalizer and the estimators it supports.

    Parameters
    ----------
    name : str
        Unique among the canonicalizers; accepted by ``PACPrivate(canonicalizer=name)``.
    target : str, class or callable
        ``"package.module:Object"``, or the
        :class:`~pacsklearn.kernel.outputs.canonicalizer.Canonicalizer` subclass itself, or a
        callable without arguments that returns an instance.
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

    kind = "canonicalizer"
    hook = "pacsklearn_canonicalizers"
    makes = Canonicalizer


@final
@dataclass(frozen=True)
class BatchPredictorRecord(ClaimingRecord):
    """A batch predictor and the estimators whose private responses it makes fast.

    Parameters
    ----------
    name : str
        Unique among the batch predictors.
    target : str or class
        ``"package.module:Object"``, or the
        :class:`~pacsklearn.kernel.outputs.batch_predictor.BatchPredictor` subclass itself.
    estimators, description
        As for a :class:`CanonicalizerRecord`.
    """

    kind = "batch_predictor"
    hook = "pacsklearn_batch_predictors"
    makes = BatchPredictor


@final
@dataclass(frozen=True)
class SubsetFitterRecord(ClaimingRecord):
    """A subset fitter and the estimators whose m candidates it fits at once.

    Parameters
    ----------
    name : str
        Unique among the subset fitters.
    target : str or class
        ``"package.module:Object"``, or the
        :class:`~pacsklearn.kernel.outputs.subset_fitter.SubsetFitter` subclass itself.
    estimators, description
        As for a :class:`CanonicalizerRecord`.
    """

    kind = "subset_fitter"
    hook = "pacsklearn_subset_fitters"
    makes = SubsetFitter


@final
@dataclass(frozen=True)
class NoiseBackendRecord(DescribedRecord):
    """A method of calibrating noise.

    Parameters
    ----------
    name : str
        Unique among the noise backends; accepted by ``PACPrivate(noise=name)``.
    target : str, class or callable
        ``"package.module:Object"``, or the
        :class:`~pacsklearn.kernel.noise.noise_backend.NoiseBackend` subclass itself, or a callable
        without arguments that returns an instance.
    description : str
        One line for listings.
    """

    kind = "noise_backend"
    hook = "pacsklearn_noise_backends"
    makes = NoiseBackend


@final
@dataclass(frozen=True)
class CriterionRecord(DescribedRecord):
    """What an adversary has to achieve to be called successful.

    Parameters
    ----------
    name : str
        Unique among the criteria; accepted by ``PACPrivate(criterion=name)``. A name that begins
        with ``k_`` takes a number: ``"k_of_n"`` is asked for as ``"35_of_n"``.
    target : str, class or callable
        ``"package.module:Object"`` or the object: called with the secret space, and the number if
        it takes one, it returns a :class:`~pacsklearn.kernel.budget.criterion.Criterion`.
    description : str
        One line for listings.
    """

    kind = "criterion"
    hook = "pacsklearn_criteria"
    makes = Criterion


@final
@dataclass(frozen=True)
class ScenarioRecord(DescribedRecord):
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

    kind = "scenario"
    hook = "pacsklearn_scenarios"
    makes = Scenario


@final
@dataclass(frozen=True)
class AttackRecord(DescribedRecord):
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

    kind = "attack"
    hook = "pacsklearn_attacks"
    makes = Attack


KINDS: Final[Mapping[Kind, type[Record]]] = MappingProxyType(
    {
        record.kind: record
        for record in (
            CanonicalizerRecord,
            BatchPredictorRecord,
            SubsetFitterRecord,
            NoiseBackendRecord,
            CriterionRecord,
            ScenarioRecord,
            AttackRecord,
        )
    }
)
"""Record of each kind of plugin. A new kind is a record here, a hook and its documentation."""
