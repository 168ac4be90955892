"""Kinds of plugins, declared by the rings that know what to do with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, TypeVar, final

import pluggy

from pacsklearn.kernel.host import host

API: Final = 1
"""Number of the hook specification, which a module of hooks states as ``pacsklearn_api``."""

hookimpl = pluggy.HookimplMarker("pacsklearn")
"""Marks a function of a plugin as the implementation of the hook of the same name."""

_hookspec = pluggy.HookspecMarker("pacsklearn")

HookT = TypeVar("HookT", bound=Callable[[], Any])


@final
@dataclass(frozen=True)
class Kind:
    """A kind of plugin: what it is called, and what its classes derive from.

    Parameters
    ----------
    name : str
    hook : str
        Name of the hook that yields its classes.
    target : str
        ``"package.module:Class"`` of the base class, imported when it is needed.
    internal : bool
        Whether it is for our own distributions alone, and may change.
    """

    name: str
    hook: str
    target: str
    internal: bool = False

    @property
    def noun(self) -> str:
        """The kind in words."""
        return self.name.replace("_", " ")

    @property
    def base(self) -> type:
        """Class that all classes of the kind derive from."""
        located: type = imported(self.target)
        return located

    def holds(self, made: object) -> bool:
        """Return whether ``made`` is a class of this kind."""
        return isinstance(made, type) and issubclass(made, self.base)


def kind(name: str, target: str, *, internal: bool = False) -> Callable[[HookT], HookT]:
    """Declare a kind of plugin by its hook; the function yields what the ring itself has of it."""

    def declare(hook: HookT) -> HookT:
        # The hook is specification and implementation in one: a ring cannot declare what it misses.
        setattr(hook, _KIND, Kind(name, hook.__name__, target, internal))
        return hookimpl(_hookspec(hook))

    return declare


_KIND: Final = "pacsklearn_kind"


def kinds_in(module: object) -> list[Kind]:
    """Return the kinds that a module declares, in its order."""
    return [getattr(each, _KIND) for each in vars(module).values() if hasattr(each, _KIND)]


def imported(target: str) -> Any:
    """Return the object that ``"package.module:Object"`` names."""
    module, _, qualname = target.partition(":")
    located: Any = import_module(module)
    for part in qualname.split("."):
        located = getattr(located, part)
    return located


def is_dotted_name(value: object) -> bool:
    """Return whether ``value`` is a string of two or more identifiers joined by dots."""
    parts = value.split(".") if isinstance(value, str) else []
    return len(parts) >= 2 and all(part.isidentifier() for part in parts)


def public_name(name: str) -> str:
    """Return the dotted name without the private components on its path.

    Examples
    --------
    >>> public_name("sklearn.svm._classes.LinearSVC")
    'sklearn.svm.LinearSVC'
    """
    *path, last = name.split(".")
    return ".".join([*(part for part in path if not part.startswith("_")), last])


def public_names(cls: type) -> tuple[str, ...]:
    """Return the names that claim ``cls``; none for a class that no other process could import.

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
    names = [public_name(f"{module}.{qualname}"), host().target(cls).replace(":", ".")]
    if private and private[0] > 0:
        names.append(public_name(".".join([*path[: private[0]], qualname])))
    return tuple(dict.fromkeys(names))
