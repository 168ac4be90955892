"""Find the rings and the installed plugins, one at a time, and ask each for its classes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import import_module, metadata
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final, final

import pluggy

from pacsklearn._public_path import public_path
from pacsklearn._validation import warn_user
from pacsklearn.exceptions import PluginError, PluginWarning
from pacsklearn.kernel.plugins.catalogue import Catalogue, Registration
from pacsklearn.kernel.plugins.kinds import API, Kind, imported, kinds_in

GROUP: Final = "pacsklearn"


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
    """Return the sentence to append to an error message; empty when no plugin failed."""
    listed = "; ".join(str(failure) for failure in failures)
    return f" Plugins that failed to load: {listed}." if listed else ""


@cache
def rings() -> tuple[ModuleType, ...]:
    """Return modules ``pacsklearn.<ring>.hooks``, the kernel's first; they import nothing heavy."""
    folders = import_module("pacsklearn").__path__
    names = {path.parent.name for folder in folders for path in Path(folder).glob("*/hooks.py")}
    # The kernel's kinds first, in one order everywhere: names in listings do not move.
    ordered = sorted(names, key=lambda name: (name != "kernel", name))
    return tuple(import_module(f"pacsklearn.{name}.hooks") for name in ordered)


@cache
def kinds() -> Mapping[str, Kind]:
    """Return the kinds that the rings declare, by name."""
    return MappingProxyType({kind.name: kind for ring in rings() for kind in kinds_in(ring)})


@cache
def public_kinds() -> Mapping[str, Kind]:
    """Return the kinds that anybody may add to, by name."""
    return MappingProxyType({name: kind for name, kind in kinds().items() if not kind.internal})


@cache
def built_ins() -> Mapping[str, str]:
    """Return ``"package.module:Object"`` of all that the rings yield, by the object's name."""
    yielded = (
        getattr(ring, kind.hook, None) for ring in rings() for kind in public_kinds().values()
    )
    targets = [target for hook in yielded if hook is not None for target in hook()]
    return MappingProxyType({target.rpartition(":")[2]: target for target in targets})


@final
class Plugins:
    """The rings and the plugins that were imported, and those that were left out.

    Parameters
    ----------
    find_entry_points : callable, optional
        Returns what is to be loaded at the first question; by default what is installed.
    """

    def __init__(self, find_entry_points: Callable[[], Iterable[EntryPoint]] | None = None) -> None:
        self._find: Callable[[], Any] = find_entry_points or partial(entry_points, group=GROUP)
        self.failures: list[PluginFailure] = []
        self._warned: set[str] = set()
        self._manager = pluggy.PluginManager(GROUP)
        self._sources: list[tuple[object, str, str]] = []

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """Kinds that the rings declare, by name."""
        return kinds()

    @property
    def complaint(self) -> str:
        """Sentence to append to an error message; empty when no plugin failed."""
        return describe_failures(self.failures)

    def _load(self) -> None:
        """Import the rings' hooks and the plugins.

        Raises
        ------
        PluginError
            With ``PACSKLEARN_STRICT_PLUGINS=1``, when a plugin fails.
        """
        self._manager = pluggy.PluginManager(GROUP)
        for ring in filter(kinds_in, rings()):
            self._manager.add_hookspecs(ring)
        own = distribution_of(GROUP)
        # The built-ins through the same door, and first: who claims a name of theirs is at fault.
        sources: list[tuple[object, str, str]] = [(ring, *own) for ring in rings()]
        for ring in rings():
            self._manager.register(ring)
        chosen, absent = _select(self._find())
        for name in absent:
            self._leave_out(name, "", PluginError("named in PACSKLEARN_PLUGINS, not installed"))
        for point in chosen:
            distribution, version = _declared_by(point)
            try:
                plugin = point.load()
                self._admit(plugin, f"{distribution}:{point.name}")
            except (Exception, SystemExit) as error:  # noqa: BLE001 - kept in `failures`
                self._leave_out(distribution, version, error)
                continue
            sources.append((plugin, distribution, version))
        self._sources = sources

    def catalogue(self, kind: Kind) -> Catalogue:
        """Return all classes of a kind; a plugin that fails to give one gives none of that kind."""
        if not self._sources:
            self._load()
        catalogue = Catalogue()
        for plugin, distribution, version in self._sources:
            try:
                # All classes of the plugin or none: half a plugin would be a mechanism nobody
                # tested.
                given = [
                    Registration.of(kind, made, (distribution, version))
                    for made in self._yielded(kind, plugin)
                ]
            except (Exception, SystemExit) as error:
                if plugin in rings():
                    raise
                self._leave_out(distribution, version, error)
                continue
            # Outside the guard: a clash is raised, and names both distributions.
            for registration in given:
                catalogue.add(registration)
        return catalogue

    def warn(self) -> None:
        """Warn once for each distribution that was left out."""
        new = {each.distribution: each for each in self.failures if each.distribution}
        for distribution, failure in new.items():
            if distribution not in self._warned:
                self._warned.add(distribution)
                warn_user(
                    f"The plugin {distribution!r} was left out: {failure}. Its names are unknown "
                    "until it is repaired; see pacsklearn.plugins.registry().failures.",
                    PluginWarning,
                )

    def _admit(self, plugin: Any, name: str) -> None:
        """Refuse what was made for other hooks, before it can be asked for anything."""
        # Read before any hook runs: a plugin made for other hooks is asked for nothing.
        stated = getattr(plugin, "pacsklearn_api", None)
        if stated != API:
            made = "states no pacsklearn_api" if stated is None else f"is made for API {stated!r}"
            raise PluginError(
                f"it {made}, this pacsklearn has the hooks of API {API}; install versions of the "
                "two that belong together"
            )
        self._manager.register(plugin, name=name)
        try:
            # A misspelled hook is an error: the plugin would be there and do nothing.
            self._manager.check_pending()
            callers = self._manager.get_hookcallers(plugin)
            if not callers:
                raise PluginError(
                    "it implements no hook; mark its functions with pacsklearn.plugins.hookimpl"
                )
            for each in (each for caller in callers for each in caller.get_hookimpls()):
                # It could change what other plugins return, unseen.
                if each.plugin is plugin and (each.wrapper or each.hookwrapper):
                    raise PluginError("a hook of it is a wrapper; hooks may only yield classes")
        except BaseException:
            self._manager.unregister(plugin)
            raise

    def _yielded(self, kind: Kind, plugin: object) -> list[Any]:
        """Return what the hook of one plugin yields.

        Alone, so that a fault is known to be its own.
        """
        yielded: list[Any] = []
        caller: pluggy.HookCaller = getattr(self._manager.hook, kind.hook)
        for implementation in caller.get_hookimpls():
            if implementation.plugin is plugin:
                returned: Any = implementation.function()
                if isinstance(returned, str) or not isinstance(returned, Iterable):
                    raise PluginError(
                        f"{kind.hook} must yield classes or 'package.module:Class', got an object "
                        f"of type {type(returned).__name__}"
                    )
                yielded += [imported(each) if isinstance(each, str) else each for each in returned]
        return yielded

    def _leave_out(self, distribution: str, version: str, error: BaseException) -> None:
        failure = PluginFailure(distribution, version, type(error).__name__, str(error))
        if os.environ.get("PACSKLEARN_STRICT_PLUGINS", "") not in ("", "0"):
            raise PluginError(
                f"PACSKLEARN_STRICT_PLUGINS is set.{describe_failures([failure])}"
            ) from error
        if failure not in self.failures:
            self.failures.append(failure)


def _select(points: Iterable[EntryPoint]) -> tuple[list[EntryPoint], list[str]]:
    """Return the entry points that ``PACSKLEARN_PLUGINS`` selects, and names without a match."""
    # Installations list them in any order; a clash must be the same on every machine.
    ordered = sorted(points, key=lambda point: (_declared_by(point)[0], point.name))
    limit = os.environ.get("PACSKLEARN_PLUGINS")
    if limit is None:
        return ordered, []
    wanted = {_normalised(name): name.strip() for name in limit.split(",") if name.strip()}
    chosen = [point for point in ordered if _names(point) & wanted.keys()]
    matched = set().union(*map(_names, chosen))
    return chosen, [name for key, name in wanted.items() if key not in matched]


def _declared_by(point: EntryPoint) -> tuple[str, str]:
    """Return the name and version of the distribution that declares an entry point."""
    if point.dist is None:
        return point.name, "unversioned"
    return point.dist.name, point.dist.version


def _names(point: EntryPoint) -> set[str]:
    return {_normalised(_declared_by(point)[0]), _normalised(point.name)}


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def target_name(made: Any) -> str:
    """Return ``"package:Object"`` of a class, by the name that users import."""
    module, name = public_path(made)
    # What comes with the package and has no shorter name is imported from pacsklearn.plugins,
    # which is asked last: it loads rings that a fit has no use for.
    if module.startswith("pacsklearn.") and (
        built_ins().get(name) == f"{made.__module__}:{name}"
        or getattr(import_module("pacsklearn.plugins"), name, None) is made
    ):
        module = "pacsklearn.plugins"
    return f"{module}:{name}"


def distribution_of(target: str) -> tuple[str, str]:
    """Return the name and version of the distribution of ``"package.module:Object"``."""
    package = target.partition(":")[0].split(".")[0]
    try:
        return package, metadata.version(package)
    except metadata.PackageNotFoundError:
        owners = _owners(_installed()).get(package, [])
    return package, metadata.version(owners[0]) if owners else "unversioned"


def _installed() -> tuple[tuple[str, int], ...]:
    """Return the folders that packages are found in, and when each was last changed."""
    folders = (Path(folder) for folder in sys.path)
    return tuple((str(each), each.stat().st_mtime_ns) for each in folders if each.is_dir())


@lru_cache(maxsize=1)
def _owners(_: tuple[tuple[str, int], ...]) -> Mapping[str, list[str]]:
    # It reads the files of every distribution: every fit with a class of a notebook's own would
    # wait for it.
    return metadata.packages_distributions()
