"""What is refused because it would hide nothing, and which backend serves what is capped."""

from __future__ import annotations

from pacsklearn.exceptions import BudgetError
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.noise.noise_backend import NoiseBackend


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


def chosen_backend(noise: str | NoiseBackend, criterion: Criterion | None) -> str | NoiseBackend:
    """Backend from a user's argument; "auto" is the default one for what is capped."""
    if isinstance(noise, str) and noise == "auto":
        return "logdet" if criterion is None else "criterion"
    return noise
