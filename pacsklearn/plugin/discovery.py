"""From installed entry points to records, one plugin at a time."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, PackageNotFoundError, version
from typing import Any, Final, final

import pluggy

from pacsklearn.exceptions import PluginError, PluginWarning, warn_user
from pacsklearn.plugin import builtins, hookspecs
from pacsklearn.plugin.catalogue import Catalogue, Registration
from pacsklearn.plugin.records import KINDS, Record


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
    own_version = _own_version()
    # The built-ins through the same door, and first: who claims a name of theirs is at fault.
    for record in collect(manager, builtins, "pacsklearn"):
        catalogue.add(Registration(record, "pacsklearn", own_version))
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
        distribution, installed = _distribution_of(point)
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
            "is repaired; see pacsklearn.plugin.registry().failures.",
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
    ordered = sorted(entry_points, key=lambda point: (_distribution_of(point)[0], point.name))
    limit = os.environ.get("PACSKLEARN_PLUGINS")
    if limit is None:
        return ordered, []
    wanted = {_normalised(name): name.strip() for name in limit.split(",") if name.strip()}
    chosen = [point for point in ordered if _names(point) & wanted.keys()]
    matched = set().union(*map(_names, chosen))
    return chosen, [name for key, name in wanted.items() if key not in matched]


def _distribution_of(point: EntryPoint) -> tuple[str, str]:
    """Name and version of the distribution that declares an entry point."""
    if point.dist is None:
        return point.name, "unversioned"
    return point.dist.name, point.dist.version


def _is_strict() -> bool:
    """Whether ``PACSKLEARN_STRICT_PLUGINS`` asks to raise instead of leaving a plugin out."""
    return os.environ.get("PACSKLEARN_STRICT_PLUGINS", "") not in ("", "0")


def _own_version() -> str:
    try:
        return version("pacsklearn")
    except PackageNotFoundError:
        return "unversioned"


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
    return {_normalised(_distribution_of(point)[0]), _normalised(point.name)}


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()
