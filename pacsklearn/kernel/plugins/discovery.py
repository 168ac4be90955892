"""From installed entry points to a catalogue of records, one plugin at a time."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module, metadata
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Final, final

import pluggy

from pacsklearn._validation import warn_user
from pacsklearn.exceptions import PluginClashError, PluginError, PluginWarning
from pacsklearn.kernel.guarantee.public_path import public_path
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.plugins import builtins, hookspecs
from pacsklearn.kernel.plugins.records import (
    KINDS,
    ClaimingRecord,
    Kind,
    Record,
    public_name,
    public_names,
)


@final
@dataclass(frozen=True)
class Registration:
    """A record and the distribution it came from.

    Parameters
    ----------
    record : Record
    distribution, version : str
        What registered it.
    """

    record: Record
    distribution: str
    version: str

    @classmethod
    def by_hand(cls, record: Record) -> Registration:
        """Registration of a record that came through no entry point."""
        return cls(record, *_distribution_of(target_name(record.target)))

    @property
    def provenance(self) -> Provenance:
        """What an event remembers."""
        return Provenance(
            self.record.name, target_name(self.record.target), self.distribution, self.version
        )

    def load(self) -> Any:
        """Object the record points at.

        Raises
        ------
        PluginError
            When it cannot be imported, naming the distribution.
        """
        target = self.record.target
        if not isinstance(target, str):
            return target
        module, _, qualname = target.partition(":")
        try:
            loaded: Any = import_module(module)
            for part in qualname.split("."):
                loaded = getattr(loaded, part)
        except (Exception, SystemExit) as error:  # a script may end where it is imported
            raise PluginError(
                f"The {self.record.noun} {self.record.name!r} of the distribution "
                f"{self.distribution!r} {self.version} cannot be loaded from {target!r}: "
                f"{type(error).__name__}: {error}. Install what it needs, or ask its authors."
            ) from error
        return loaded


def unregistered_provenance(instance: object) -> Provenance:
    """Provenance of an object whose class no record names."""
    target = target_name(type(instance))
    return Provenance(type(instance).__qualname__, target, *_distribution_of(target))


def target_name(target: Any) -> str:
    """``"package:Object"`` of a record's target, by the name that users import."""
    if isinstance(target, str):
        name = target.rpartition(":")[2]
        return builtins.public_target(name) if builtins.TARGETS.get(name) == target else target
    named = target if hasattr(target, "__qualname__") else type(target)
    module, name = public_path(named)
    # Of those that come with the package and are imported from no shorter place.
    if name in builtins.TARGETS and getattr(builtins.public_room(), name) is named:
        return builtins.public_target(name)
    return f"{module}:{name}"


def _distribution_of(target: str) -> tuple[str, str]:
    package = target.partition(":")[0].split(".")[0]
    try:
        return package, metadata.version(package)
    except metadata.PackageNotFoundError:
        owners = _owners(_installed()).get(package, [])
    return package, metadata.version(owners[0]) if owners else "unversioned"


def _installed() -> tuple[tuple[str, int], ...]:
    """Folders that packages are found in, and when something was last installed there."""
    folders = (Path(folder) for folder in sys.path)
    return tuple((str(each), each.stat().st_mtime_ns) for each in folders if each.is_dir())


@lru_cache(maxsize=1)
def _owners(_: tuple[tuple[str, int], ...]) -> Mapping[str, list[str]]:
    # It reads the files of every distribution: every fit with a class of a notebook's own would
    # wait for it.
    return metadata.packages_distributions()


_INTERACTIVE = "__main__"


@final
class Catalogue:
    """Registrations by kind and name, and the estimators that they claim."""

    def __init__(self) -> None:
        self._by_name: dict[tuple[Kind, str], Registration] = {}
        self._by_claim: dict[tuple[Kind, str | type], Registration] = {}

    def add(self, registration: Registration) -> None:
        """Add it, or raise :class:`PluginClashError` and change nothing.

        An equal record is added once. A record of an interactive session takes the place of an
        earlier one, so that a notebook's cell can run twice.
        """
        key = (registration.record.kind, registration.record.name)
        earlier = self._by_name.get(key)
        if earlier is not None and earlier.record == registration.record:
            return
        replaces = earlier and registration.distribution == earlier.distribution == _INTERACTIVE
        if earlier is not None and not replaces:
            raise PluginClashError(
                f"Two distributions register the {registration.record.noun} "
                f"{registration.record.name!r}: {_label(earlier)} and {_label(registration)}. "
                + _REMEDY
            )
        claims = [(registration.record.kind, claim) for claim in _claims(registration.record)]
        for claim in claims:
            rival = self._by_claim.get(claim)
            if rival is not None and rival is not earlier:
                _, estimator = claim
                name = estimator if isinstance(estimator, str) else estimator.__qualname__
                raise PluginClashError(
                    f"Two {registration.record.noun}s claim the estimator {name}: "
                    f"{rival.record.name!r} of "
                    f"{_label(rival)} and {registration.record.name!r} of {_label(registration)}. "
                    + _REMEDY
                )
        if earlier is not None:
            self.remove(earlier.record)
        self._by_name[key] = registration
        self._by_claim.update(dict.fromkeys(claims, registration))

    def remove(self, record: Record) -> bool:
        """Remove the equal record; whether there was one."""
        key = (record.kind, record.name)
        registration = self._by_name.get(key)
        if registration is None or registration.record != record:
            return False
        del self._by_name[key]
        self._by_claim = {
            claim: holder for claim, holder in self._by_claim.items() if holder is not registration
        }
        return True

    def get(self, kind: Kind, name: str) -> Registration | None:
        """Registration of that name."""
        return self._by_name.get((kind, name))

    def all(self, kind: Kind) -> tuple[Registration, ...]:
        """Registrations of a kind, by name."""
        return tuple(self._by_name[key] for key in sorted(self._by_name) if key[0] == kind)

    def claiming(self, kind: Kind, cls: type) -> Registration | None:
        """Registration of that kind for the nearest class along the MRO that one claims."""
        for ancestor in cls.__mro__:
            claims: tuple[str | type, ...] = (ancestor, *public_names(ancestor))
            for claim in claims:
                registration = self._by_claim.get((kind, claim))
                if registration is not None:
                    return registration
        return None


_REMEDY = (
    "Uninstall one, leave it out with the environment variable PACSKLEARN_PLUGINS, or "
    "pacsklearn.unregister what was registered by hand."
)


def _claims(record: Record) -> tuple[str | type, ...]:
    if not isinstance(record, ClaimingRecord):
        return ()
    claims: list[str | type] = []
    for estimator in record.estimators:
        if isinstance(estimator, str):
            claims.append(public_name(estimator))
        else:
            claims += [estimator, *public_names(estimator)]
    return tuple(dict.fromkeys(claims))


def _label(registration: Registration) -> str:
    return f"{registration.distribution!r} {registration.version}"


@final
@dataclass(frozen=True)
class PluginFailure:
    """Why a plugin is not there.

    Parameters
    ----------
    distribution, version : str
        What is installed.
    error_type, message : str
        Class and text of the exception.
    """

    distribution: str
    version: str
    error_type: str
    message: str

    def __str__(self) -> str:
        label = f"{self.distribution} {self.version}".rstrip()
        return f"{label} ({self.error_type}: {self.message})"


def describe_failures(failures: Iterable[PluginFailure]) -> str:
    """Sentence to append to an error message; empty when no plugin failed."""
    listed = "; ".join(str(failure) for failure in failures)
    return f" Plugins that failed to load: {listed}." if listed else ""


GROUP: Final = "pacsklearn"


def _plugin_manager() -> pluggy.PluginManager:
    """Manager that knows the hooks and no plugin."""
    manager = pluggy.PluginManager("pacsklearn")
    manager.add_hookspecs(hookspecs)
    return manager


def load(points: Iterable[EntryPoint]) -> tuple[Catalogue, tuple[PluginFailure, ...]]:
    """Records of pacsklearn and of the plugins, and the plugins that were left out."""
    manager, catalogue = _plugin_manager(), Catalogue()
    own = _distribution_of("pacsklearn")
    # The built-ins through the same door, and first: who claims a name of theirs is at fault.
    for record in collect(manager, builtins, "pacsklearn"):
        catalogue.add(Registration(record, *own))
    chosen, absent = _select(points)
    failures = [
        PluginFailure(
            name, "", "PackageNotFoundError", "named in PACSKLEARN_PLUGINS, not installed"
        )
        for name in absent
    ]
    if failures and _is_strict():
        raise PluginError(f"PACSKLEARN_STRICT_PLUGINS is set.{describe_failures(failures)}")
    for point in chosen:
        distribution, installed = _declared_by(point)
        try:
            records = collect(manager, point.load(), f"{distribution}:{point.name}")
        except (Exception, SystemExit) as error:  # a script may end where it is imported
            failure = PluginFailure(distribution, installed, type(error).__name__, str(error))
            if _is_strict():
                raise PluginError(
                    f"PACSKLEARN_STRICT_PLUGINS is set.{describe_failures([failure])}"
                ) from error
            failures.append(failure)
            continue
        for record in records:
            catalogue.add(Registration(record, distribution, installed))
    return catalogue, tuple(failures)


def warn(failures: Iterable[PluginFailure]) -> None:
    """Warn once for each distribution that was left out."""
    for distribution, failure in {item.distribution: item for item in failures}.items():
        warn_user(
            f"The plugin {distribution!r} was left out: {failure}. Its names are unknown until it "
            "is repaired; see pacsklearn.kernel.plugins.registry().failures.",
            PluginWarning,
        )


def collect(manager: pluggy.PluginManager, plugin: object, name: str) -> tuple[Record, ...]:
    """Register ``plugin`` and return its records; on an error it is unregistered again."""
    manager.register(plugin, name=name)
    try:
        # A misspelled hook is an error: the plugin would be there and do nothing.
        manager.check_pending()
        if not manager.get_hookcallers(plugin):
            raise PluginError("it implements no hook; mark its functions with pacsklearn.hookimpl")
        return tuple(
            record
            for record_type in KINDS.values()
            for record in _call(manager, plugin, record_type)
        )
    except BaseException:
        manager.unregister(plugin)
        raise


def _select(entry_points: Iterable[EntryPoint]) -> tuple[list[EntryPoint], list[str]]:
    """Entry points that ``PACSKLEARN_PLUGINS`` lets in, and the names in it that match nothing."""
    # Installations list them in any order; a clash must be the same on every machine.
    ordered = sorted(entry_points, key=lambda point: (_declared_by(point)[0], point.name))
    limit = os.environ.get("PACSKLEARN_PLUGINS")
    if limit is None:
        return ordered, []
    wanted = {_normalised(name): name.strip() for name in limit.split(",") if name.strip()}
    chosen = [point for point in ordered if _names(point) & wanted.keys()]
    matched = set().union(*map(_names, chosen))
    return chosen, [name for key, name in wanted.items() if key not in matched]


def _declared_by(point: EntryPoint) -> tuple[str, str]:
    """Name and version of the distribution that declares an entry point."""
    if point.dist is None:
        return point.name, "unversioned"
    return point.dist.name, point.dist.version


def _is_strict() -> bool:
    """Whether ``PACSKLEARN_STRICT_PLUGINS`` asks to raise instead of leaving a plugin out."""
    return os.environ.get("PACSKLEARN_STRICT_PLUGINS", "") not in ("", "0")


def _call(manager: pluggy.PluginManager, plugin: object, record_type: type[Record]) -> list[Record]:
    records: list[Record] = []
    hook = record_type.hook
    caller: pluggy.HookCaller = getattr(manager.hook, hook)
    for implementation in caller.get_hookimpls():
        # One plugin at a time, so that a fault is known to be its own.
        if implementation.plugin is not plugin:
            continue
        # It could change what other plugins return, unseen.
        if implementation.wrapper or implementation.hookwrapper:
            raise PluginError(f"{hook} is a wrapper; hooks may only return records")
        returned: Any = implementation.function()
        if not isinstance(returned, Iterable):
            raise PluginError(
                f"{hook} must return an iterable of {record_type.__name__}, got an object of type "
                f"{type(returned).__name__}"
            )
        for record in returned:
            if not isinstance(record, record_type):
                raise PluginError(
                    f"{hook} must return records of type {record_type.__name__}, got an object of "
                    f"type {type(record).__name__}"
                )
            records.append(record)
    return records


def _names(point: EntryPoint) -> set[str]:
    return {_normalised(_declared_by(point)[0]), _normalised(point.name)}


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()
