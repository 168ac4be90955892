"""Public names of a module: listed once in its stub, imported when they are first asked for."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing itself takes longer to load than what is imported here
if TYPE_CHECKING:
    from collections.abc import Callable


def lazily(
    module: str, file: str, rooms: frozenset[str] = frozenset()
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Make ``__getattr__``, ``__dir__`` and ``__all__`` of a module from the stub beside it.

    Importing the module then costs next to nothing, and type checkers read the same lines:
    ``from home import Name as Name``, one name a line.

    Parameters
    ----------
    module, file : str
        Its ``__name__`` and ``__file__``.
    rooms : frozenset of str
        Modules inside it that are imported by being asked for.
    """
    with open(f"{file}i", encoding="utf-8") as stub:  # noqa: PTH123 - pathlib takes longer
        listed = [line.split() for line in stub if line.startswith("from ")]
    homes = {name: home for _, home, _, name, _, _ in listed}

    def imported(name: str) -> object:
        import importlib

        if name in rooms:
            return importlib.import_module(f"{module}.{name}")
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value: object = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    return imported, lambda: sorted({*vars(sys.modules[module]), *homes, *rooms}), sorted(homes)
