"""Libraries that an extra installs, and names that other distributions bring: how to get them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final


def install_command(extra: str, home: str = ".") -> str:
    """Return the command that installs an extra, by path: pacsklearn is on no index."""
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


_DISTRIBUTIONS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "pacsklearn-attacks": {
        "attack": (
            "attribute",
            "canaries",
            "existence",
            "figures",
            "known_rows",
            "label_only",
            "loss_threshold",
            "low_order_bits",
            "poisoning",
            "prices",
            "property",
            "quantile",
            "reconstruction",
            "record",
            "rmia",
            "robust_lira",
        ),
    },
    "pacsklearn-papers": {"noise_backend": ("residual", "stackelberg")},
    "pacsklearn-postgres": {"ledger_scheme": ("postgresql",)},
}


def install_hint(kind: str, name: object) -> str:
    """Return the sentence that says how to install what brings ``name``.

    Empty when nothing here does.
    """
    for distribution, brings in _DISTRIBUTIONS.items():
        if name in brings.get(kind, ()):
            return (
                f" {name!r} comes with {distribution}: in a clone of the repository, "
                f"pip install ./plugins/{distribution}."
            )
    return ""
