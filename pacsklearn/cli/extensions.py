"""What other distributions add to the command line: commands, and writers of model files.

A command is an entry point of the group ``pacsklearn.commands``, by its name; a writer one of
``pacsklearn.writers``. Nothing here imports any of them before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from pacsklearn.exceptions import PluginError

COMMANDS: Final = "pacsklearn.commands"
WRITERS: Final = "pacsklearn.writers"

_PUBLISH: Final = "./plugins/pacsklearn-publish"
_SERVER: Final = '"./plugins/pacsklearn-service[server]"'
_HOMES: Final = {
    COMMANDS: {"key": _PUBLISH, "publish": _PUBLISH, "verify": _PUBLISH, "service": _SERVER},
    WRITERS: {"bundle": _PUBLISH},
}
"""Where in the repository what is not here is installed from."""


def packages() -> frozenset[str]:
    """Return packages whose messages quote no data: ours, and those that add to the commands."""
    added = [*entry_points(group=COMMANDS), *entry_points(group=WRITERS)]
    ours = {"pacsklearn", "pacsklearn_attacks"}
    return frozenset({*ours, *(entry.module.partition(".")[0] for entry in added)})


def added_commands(own: Collection[str]) -> dict[str, Callable[..., None] | PluginError]:
    """Return commands of other distributions, by name; an error in place of one that cannot be run.

    Parameters
    ----------
    own : collection of str
        Names of pacsklearn's own commands; nobody replaces them unseen.
    """
    claimed: dict[str, list[EntryPoint]] = {name: [] for name in _HOMES[COMMANDS]}
    for entry in entry_points(group=COMMANDS):
        claimed.setdefault(entry.name, []).append(entry)
    commands: dict[str, Callable[..., None] | PluginError] = {}
    for name, entries in claimed.items():
        claims = [*(["pacsklearn"] if name in own else []), *map(_owner, entries)]
        if len(claims) > 1:
            commands[name] = PluginError(
                f"The command {name!r} is claimed by {' and '.join(claims)}; uninstall one of them."
            )
            continue
        try:
            commands[name] = _loaded(f"The command {name!r}", entries, _HOMES[COMMANDS].get(name))
        except PluginError as error:
            commands[name] = error
    return commands


def writer(name: str) -> Callable[..., Any]:
    """Return the writer of model files of another distribution.

    Raises
    ------
    PluginError
        When it is not installed: says which distribution has it, and how to install that.
    """
    entries = list(entry_points(group=WRITERS, name=name))
    return _loaded(f"Writing a {name}", entries, _HOMES[WRITERS][name])


def _loaded(what: str, entries: list[EntryPoint], home: str | None) -> Callable[..., Any]:
    if not entries:
        raise PluginError(
            f"{what} is in another distribution, which is not installed. In a copy of "
            f"pacsklearn's repository: pip install . {home}"
        )
    try:
        loaded: Callable[..., Any] = entries[0].load()
    except Exception as error:
        # One broken distribution must not take the other commands along.
        raise PluginError(
            f"{what} is in {_owner(entries[0])}, which cannot be loaded "
            f"({type(error).__name__}); install it again."
        ) from error
    return loaded


def _owner(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.module
