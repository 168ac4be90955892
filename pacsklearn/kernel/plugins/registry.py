"""The one place that knows every plugin."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, TypeVar, final

from pacsklearn.audit.attack import Attack
from pacsklearn.exceptions import NoCanonicalizerError, PluginError, UnknownNameError
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.outputs.batch_predictor import BatchPredictor
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter
from pacsklearn.kernel.plugins import discovery
from pacsklearn.kernel.plugins.discovery import (
    Catalogue,
    PluginFailure,
    Registration,
    describe_failures,
    target_name,
    unregistered_provenance,
)
from pacsklearn.kernel.plugins.elsewhere import install_hint
from pacsklearn.kernel.plugins.reasons import advice_for, reason_for
from pacsklearn.kernel.plugins.records import KINDS, Kind, Record
from pacsklearn.srpp.scenarios.scenario import Scenario

MadeT = TypeVar("MadeT")
RecordT = TypeVar("RecordT", bound=Record)


@final
class Registry:
    """Everything that plugins hand over, by kind and name.

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
            return tuple(registration.record for registration in self._loaded().all(kind))

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
                raise self._unknown(record.kind, record.name)

    def load(self, kind: Kind, name: str) -> Any:
        """Object that a registered record points at: a class or a factory."""
        return self._registration(kind, name).load()

    def noise_backend(self, value: str | NoiseBackend) -> NoiseBackend:
        """Noise backend of that name; an instance passes through."""
        return self._made(NoiseBackend, value)

    def attack(self, value: str | Attack) -> Attack:
        """Attack of that name; an instance passes through."""
        return self._made(Attack, value)

    def scenario(self, value: str | Scenario) -> Scenario:
        """Scenario of that name with its defaults; an instance passes through."""
        return self._made(Scenario, value)

    def criterion(self, value: str, space: Any) -> Criterion:
        """Criterion of that name for a secret space; ``"35_of_n"`` is ``"k_of_n"`` with k = 35."""
        counted = re.fullmatch(r"(\d+)_(\w+)", value)
        if counted is None:
            return self._made(Criterion, value, space)
        return self._made(Criterion, f"k_{counted[2]}", space, int(counted[1]))

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
            registration = self._loaded().claiming("canonicalizer", type(estimator))
        if registration is None:
            kind = type(estimator)
            hint = " Give an instance, not the class." if isinstance(estimator, type) else ""
            reason = reason_for(kind)
            because = f": {reason}" if reason else ""
            raise NoCanonicalizerError(
                f"No canonicalizer supports {kind.__module__}.{kind.__qualname__}, so its "
                f"parameters cannot be released privately{because}.{hint}",
                f"{advice_for(kind)}Give canonicalizer=MyCanonicalizer(), or register one for "
                "the class with pacsklearn.register(...)." + describe_failures(self._failures),
            )
        return self._canonicalizer(registration, estimator)

    def batch_predictor_for(self, estimator: Any) -> type[BatchPredictor] | None:
        """Batch predictor of the nearest class along the estimator's MRO, or None."""
        return self._claiming_class("batch_predictor", BatchPredictor, estimator)

    def subset_fitter_for(self, estimator: Any) -> SubsetFitter | None:
        """What fits all candidates of ``estimator``, as configured, at once; or None."""
        fitter = self._claiming_class("subset_fitter", SubsetFitter, estimator)
        return None if fitter is None else fitter.for_estimator(estimator, self.subset_fitter_for)

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
            raise _wrong_type(registration, made)
        return made

    def _made(self, base: type[MadeT], value: Any, *arguments: Any) -> MadeT:
        """Object of that name, made with ``arguments``; an instance passes through."""
        if isinstance(value, base):
            return value
        kind = next(kind for kind, record in KINDS.items() if record.makes is base)
        registration = self._registration(kind, value)
        made = registration.load()(*arguments)
        if not isinstance(made, base):
            raise _wrong_type(registration, made)
        return made

    def _claiming_class(self, kind: Kind, base: type[MadeT], estimator: Any) -> type[MadeT] | None:
        with self._lock:
            registration = self._loaded().claiming(kind, type(estimator))
        if registration is None:
            return None
        loaded = registration.load()
        if not (isinstance(loaded, type) and issubclass(loaded, base)):
            raise _wrong_type(registration, loaded)
        return loaded

    def _registration(self, kind: Kind, name: object) -> Registration:
        _check_kind(kind)
        with self._lock:
            registration = self._loaded().get(kind, name) if isinstance(name, str) else None
        if registration is None:
            raise self._unknown(kind, name)
        return registration

    def _unknown(self, kind: Kind, name: object) -> UnknownNameError:
        noun = kind.replace("_", " ")
        if isinstance(name, str):
            problem = f"No {noun} is called {name!r}"
        else:
            what = name.__qualname__ if isinstance(name, type) else type(name).__qualname__
            given = "the class" if isinstance(name, type) else "an object of type"
            article = "An" if noun == "attack" else "A"
            problem = f"{article} {noun} is given by its name or by an instance, got {given} {what}"
        return UnknownNameError(
            f"{problem}. Known names: {', '.join(self.names(kind)) or 'none'}."
            + install_hint(kind, name)
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
                # When all is loaded: a warning that is made an error must not leave half of it.
                discovery.warn(self._failures)
            return self._catalogue


def _wrong_type(registration: Registration, made: object) -> PluginError:
    record = registration.record
    return PluginError(
        f"The {record.noun} {record.name!r} of the distribution {registration.distribution!r} "
        f"{registration.version} gave an object of type {type(made).__qualname__}, not a "
        f"{record.makes.__name__}."
    )


def _check_kind(kind: object) -> None:
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}.")


def _check_record(record: object) -> None:
    # Exactly: a subclass could make of its fields something else than we read.
    if type(record) not in KINDS.values():
        raise TypeError(
            f"A record is one of {', '.join(known.__name__ for known in KINDS.values())}, got an "
            f"object of type {type(record).__qualname__}."
        )


def _installed() -> Iterable[EntryPoint]:
    return entry_points(group=discovery.GROUP)


_REGISTRY: Final = Registry()


def registry() -> Registry:
    """Registry of this process; plugins are loaded at its first question.

    Returns
    -------
    Registry

    Examples
    --------
    >>> from pacsklearn.plugins import registry
    >>> "logdet" in registry().names("noise_backend")
    True
    """
    return _REGISTRY


def register(record: RecordT) -> RecordT:
    """Add a canonicalizer, noise backend, criterion, scenario or attack without packaging it.

    Parameters
    ----------
    record : Record
        Of one of the kinds in :data:`pacsklearn.kernel.plugins.records.KINDS`.

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
    >>> from pacsklearn.plugins import NoiseBackendRecord, register, registry, unregister
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
    record : Record
        Of one of the kinds in :data:`pacsklearn.kernel.plugins.records.KINDS`.

    Raises
    ------
    UnknownNameError
        When no equal record is registered.
    """
    registry().unregister(record)
