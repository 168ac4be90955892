"""What the distributions beside pacsklearn bring, for the error about a name that is not there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
    """Sentence that says how to install what brings ``name``; empty when nothing here does."""
    for distribution, brings in _DISTRIBUTIONS.items():
        if name in brings.get(kind, ()):
            return (
                f" {name!r} comes with {distribution}: in a clone of the repository, "
                f"pip install ./plugins/{distribution}."
            )
    return ""
