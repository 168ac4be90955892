"""What is refused because it would hide nothing, and which backend serves what is capped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pacsklearn.exceptions import BudgetError
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.plugins.catalogue import unregistered_provenance
from pacsklearn.kernel.plugins.registry import registry


def check_hidden(stated: Guarantee) -> None:
    """Refuse what hides nothing, by the guarantee that would be stated of it.

    Raises
    ------
    BudgetError
    """
    if stated.needs_consent:
        raise BudgetError(
            f"budget={stated.budget:.6g} would hide nothing: once this is released, every figure, "
            f"implied or certified, for {' and '.join(stated.uncovered)} is at least 99.99 %. Give "
            "less, for instance budget=1/4 nats (at most 83.79 % at even odds), or "
            "allow_exact=True on the budget, as in Nats(10, allow_exact=True), if that is what you "
            "want; it is never published then."
        )


def chosen_backend(noise: Any, target: Target) -> tuple[Any, Provenance]:
    """Backend from a user's argument, and where it comes from.

    ``"auto"`` is the default one for what is capped, or the only one with a bound for the secret.

    Raises
    ------
    ValueError, UnknownNameError
    """
    is_named = isinstance(noise, str)
    if target.backend is not None:
        if not (is_named and noise in ("auto", target.backend.name)):
            raise ValueError(
                "noise must be 'auto' for a secret that cannot be listed: only the "
                f"{target.backend.name} route has a bound for it, got {noise!r}."
            )
        used = unregistered_provenance(target.backend)
        return target.backend, replace(used, name=target.backend.name)
    if is_named and noise == "auto":
        noise = "logdet" if target.criterion is None else "criterion"
    plugins = registry()
    return plugins.noise_backend(noise), plugins.provenance("noise_backend", noise)
