"""Libraries that an extra installs, imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def install_command(extra: str, home: str = ".") -> str:
    """Command that installs an extra. By path: no index has what is called pacsklearn there."""
    return f'pip install "{home}[{extra}]" in a copy of the repository'


def optional(module: str, *, extra: str, purpose: str, home: str = ".") -> Any:
    """Import a module of an optional library.

    Parameters
    ----------
    module : str
        Its full name.
    extra : str
        Extra of pacsklearn that installs the library.
    purpose : str
        What needs it; begins the sentence of the error.
    home : str, default="."
        Folder of the distribution in the repository.

    Raises
    ------
    ImportError
        Naming the library and the command that installs it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise ImportError(
            f"{purpose} needs {library}, which is not installed: {install_command(extra, home)}.",
            name=library,
        ) from error
