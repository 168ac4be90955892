"""The one place that knows every plugin."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, TypeVar, final

from pacsklearn.core.attack import Attack
from pacsklearn.core.batch_predictor import BatchPredictor
from pacsklearn.core.canonicalizer import Canonicalizer
from pacsklearn.core.event import Provenance
from pacsklearn.core.noise_backend import NoiseBackend
from pacsklearn.core.scenario import Scenario
from pacsklearn.core.subset_fitter import SubsetFitter
from pacsklearn.exceptions import (
    NoCanonicalizerError,
    PluginError,
    UnknownNameError,
)
from pacsklearn.plugin import discovery
from pacsklearn.plugin.catalogue import (
    KINDS,
    Catalogue,
    Kind,
    Registration,
    target_name,
    unregistered_provenance,
)
from pacsklearn.plugin.discovery import PluginFailure, describe_failures
from pacsklearn.plugin.reasons import reason_for
from pacsklearn.plugin.records import Record

__all__ = [
    "Registry",
    "register",
    "registry",
    "unregister",
]

RecordT = TypeVar("RecordT", bound=Record)


@final
class Registry:
    """Canonicalizers, batch predictors, noise backends, scenarios and attacks by name.

    Plugins are loaded at the first question and never again. One that fails is left out, kept in
    :attr:`failures` and warned about once.

    Parameters
    ----------
    find_entry_points : callable, optional
        Returns the entry points to load; the installed ones of the group ``pacsklearn`` when not
        given.

    Raises
    ------
    PluginClashError
        From the first question on, while two distributions claim one name or one estimator.
    PluginError
        With ``PACSKLEARN_STRICT_PLUGINS=1``, when a plugin fails.
    """

    def __init__(self, find_entry_points: Callable[[], Iterable[EntryPoint]] | None = None) -> None:
        self._find_entry_points = find_entry_points or _installed
        self._lock = threading.RLock()
        self._catalogue: Catalogue | None = None
        self._failures: tuple[PluginFailure, ...] = ()
        self._loading = False

    @property
    def failures(self) -> tuple[PluginFailure, ...]:
        """Plugins that were left out, and why."""
        self._loaded()
        return self._failures

    def names(self, kind: Kind) -> tuple[str, ...]:
        """Registered names of a kind, sorted."""
        return tuple(record.name for record in self.records(kind))

    def records(self, kind: Kind) -> tuple[Record, ...]:
        """Registered records of a kind, sorted by name."""
        _check_kind(kind)
        with self._lock:
            return tuple(found.record for found in self._loaded().all(kind))

    def register(self, record: RecordT) -> RecordT:
        """Add a record by hand; adding an equal one again changes nothing.

        Raises
        ------
        PluginClashError
            When the name, or an estimator, belongs to another record.
        """
        _check_record(record)
        with self._lock:
            self._loaded().add(Registration.by_hand(record))
        return record

    def unregister(self, record: Record) -> None:
        """Take a record away again.

        Raises
        ------
        UnknownNameError
            When no equal record is registered.
        """
        _check_record(record)
        with self._lock:
            if not self._loaded().remove(record):
                raise self._unknown(KINDS[type(record)], record.name)

    def load(self, kind: Kind, name: str) -> Any:
        """Object that a registered record points at: a class or a factory."""
        return self._registration(kind, name).load()

    def noise_backend(self, value: str | NoiseBackend) -> NoiseBackend:
        """Noise backend of that name; an instance passes through."""
        if isinstance(value, NoiseBackend):
            return value
        registration = self._registration("noise_backend", value)
        made = registration.load()()
        if not isinstance(made, NoiseBackend):
            raise _wrong_type(registration, made, NoiseBackend)
        return made

    def attack(self, value: str | Attack) -> Attack:
        """Attack of that name; an instance passes through."""
        if isinstance(value, Attack):
            return value
        registration = self._registration("attack", value)
        made = registration.load()()
        if not isinstance(made, Attack):
            raise _wrong_type(registration, made, Attack)
        return made

    def scenario(self, value: str | Scenario) -> Scenario:
        """Scenario of that name with its defaults; an instance passes through."""
        if isinstance(value, Scenario):
            return value
        registration = self._registration("scenario", value)
        made = registration.load()()
        if not isinstance(made, Scenario):
            raise _wrong_type(registration, made, Scenario)
        return made

    def canonicalizer(self, value: str | Canonicalizer, estimator: Any) -> Canonicalizer:
        """Canonicalizer of that name for ``estimator``; an instance passes through.

        ``"auto"`` is :meth:`canonicalizer_for`.
        """
        if isinstance(value, Canonicalizer):
            return value
        if value == "auto":
            return self.canonicalizer_for(estimator)
        return self._canonicalizer(self._registration("canonicalizer", value), estimator)

    def canonicalizer_for(self, estimator: Any) -> Canonicalizer:
        """Canonicalizer of the nearest class along the estimator's MRO that has one.

        Raises
        ------
        NoCanonicalizerError
            When none has, or when it does not support the estimator's configuration.
        """
        with self._lock:
            registration = self._loaded().claiming(type(estimator))
        if registration is None:
            kind = type(estimator)
            hint = " Give an instance, not the class." if isinstance(estimator, type) else ""
            reason = reason_for(kind)
            because = f": {reason}" if reason else ""
            raise NoCanonicalizerError(
                f"No canonicalizer supports {kind.__module__}.{kind.__qualname__}, so its "
                f"parameters cannot be released privately{because}.{hint} Give canonicalizer="
                "MyCanonicalizer(), or register one for the class with pacsklearn.register(...); "
                "black boxes release private responses instead (release='responses')."
                + describe_failures(self._failures)
            )
        return self._canonicalizer(registration, estimator)

    def batch_predictor_for(self, estimator: Any) -> type[BatchPredictor] | None:
        """Batch predictor of the nearest class along the estimator's MRO, or None."""
        with self._lock:
            registration = self._loaded().claiming(type(estimator), "batch_predictor")
        if registration is None:
            return None
        found = registration.load()
        if not (isinstance(found, type) and issubclass(found, BatchPredictor)):
            raise _wrong_type(registration, found, BatchPredictor)
        return found

    def subset_fitter_for(self, estimator: Any) -> SubsetFitter | None:
        """What fits all candidates of ``estimator``, as configured, at once; or None."""
        with self._lock:
            registration = self._loaded().claiming(type(estimator), "subset_fitter")
        if registration is None:
            return None
        found = registration.load()
        if not (isinstance(found, type) and issubclass(found, SubsetFitter)):
            raise _wrong_type(registration, found, SubsetFitter)
        return found.for_estimator(estimator, self.subset_fitter_for)

    def provenance(self, kind: Kind, value: object) -> Provenance:
        """Which distribution and version stand behind a name or an instance, for an event."""
        if isinstance(value, str):
            return self._registration(kind, value).provenance
        _check_kind(kind)
        target = target_name(type(value))
        with self._lock:
            for registration in self._loaded().all(kind):
                if target_name(registration.record.target) == target:
                    return registration.provenance
        return unregistered_provenance(value)

    def _canonicalizer(self, registration: Registration, estimator: Any) -> Canonicalizer:
        make = registration.load()
        if isinstance(make, type) and issubclass(make, Canonicalizer):
            make = partial(make.for_estimator, estimator, self.canonicalizer_for)
        made = make()
        if not isinstance(made, Canonicalizer):
            raise _wrong_type(registration, made, Canonicalizer)
        return made

    def _registration(self, kind: Kind, name: object) -> Registration:
        _check_kind(kind)
        with self._lock:
            found = self._loaded().get(kind, name) if isinstance(name, str) else None
        if found is None:
            raise self._unknown(kind, name)
        return found

    def _unknown(self, kind: Kind, name: object) -> UnknownNameError:
        noun = kind.replace("_", " ")
        if isinstance(name, str):
            problem = f"No {noun} is called {name!r}"
        else:
            what = name.__qualname__ if isinstance(name, type) else type(name).__qualname__
            said = "the class" if isinstance(name, type) else "an object of type"
            article = "An" if noun == "attack" else "A"
            problem = f"{article} {noun} is given by its name or by an instance, got {said} {what}"
        return UnknownNameError(
            f"{problem}. Known names: {', '.join(self.names(kind)) or 'none'}."
            + describe_failures(self._failures)
        )

    def _loaded(self) -> Catalogue:
        with self._lock:
            if self._catalogue is None:
                if self._loading:
                    raise PluginError(
                        "a plugin may not ask the registry while it is being imported; return "
                        "records from its hooks"
                    )
                self._loading = True
                try:
                    self._catalogue, self._failures = discovery.load(self._find_entry_points())
                finally:
                    self._loading = False
                discovery.warn(self._failures)
            return self._catalogue


def _wrong_type(registration: Registration, made: object, base: type) -> PluginError:
    return PluginError(
        f"The {registration.kind} {registration.record.name!r} of the distribution "
        f"{registration.distribution!r} {registration.version} gave an object of type "
        f"{type(made).__qualname__}, not a {base.__name__}."
    )


def _check_kind(kind: object) -> None:
    if kind not in KINDS.values():
        raise ValueError(f"kind must be one of {', '.join(KINDS.values())}, got {kind!r}.")


def _check_record(record: object) -> None:
    if type(record) not in KINDS:
        raise TypeError(
            f"A record is one of {', '.join(kind.__name__ for kind in KINDS)}, got an object of "
            f"type {type(record).__qualname__}."
        )


def _installed() -> Iterable[EntryPoint]:
    return entry_points(group=discovery.GROUP)


RecordT = TypeVar("RecordT", bound=Record)

_REGISTRY: Final = Registry()


def registry() -> Registry:
    """Registry of this process; plugins are loaded at its first question.

    Returns
    -------
    Registry

    Examples
    --------
    >>> from pacsklearn.plugin import registry
    >>> "logdet" in registry().names("noise_backend")
    True
    """
    return _REGISTRY


def register(record: RecordT) -> RecordT:
    """Add a canonicalizer, noise backend, scenario or attack without packaging it.

    Parameters
    ----------
    record : CanonicalizerRecord, NoiseBackendRecord, ScenarioRecord or AttackRecord

    Returns
    -------
    record
        The same object, to be passed to :func:`unregister`.

    Raises
    ------
    PluginClashError
        When the name, or an estimator, belongs to another record.

    Examples
    --------
    >>> from pacsklearn.plugin import NoiseBackendRecord, register, registry, unregister
    >>> record = register(NoiseBackendRecord("mine", "clinic.noise:MyBackend"))
    >>> "mine" in registry().names("noise_backend")
    True
    >>> unregister(record)
    """
    return registry().register(record)


def unregister(record: Record) -> None:
    """Take a registered record away again.

    Parameters
    ----------
    record : CanonicalizerRecord, NoiseBackendRecord, ScenarioRecord or AttackRecord

    Raises
    ------
    UnknownNameError
        When no equal record is registered.
    """
    registry().unregister(record)
