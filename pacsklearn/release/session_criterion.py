"""The criterion of a session: whose success is capped, and by which figure."""

from __future__ import annotations

from typing import Any

from pacsklearn.core.criterion import Criterion
from pacsklearn.exceptions import BudgetError, TableError
from pacsklearn.plugin import registry
from pacsklearn.tables.hashed_space import HashedSpace, Space


def as_criterion(value: Any, space: Space) -> Criterion | None:
    """Criterion from a user's argument.

    Parameters
    ----------
    value : None, str, Criterion or callable
        A registered name (``"membership"``, ``"identification"``, ``"35_of_n"``), an instance, or
        a callable that makes one for a secret space.
    space : SecretSpace, CandidateSpace or HashedSpace
    """
    if value is None:
        return None
    if isinstance(space, HashedSpace):
        raise TableError(
            "criterion must be None for a Table: it is certified over all rows, which pass one by "
            "one. State a budget in nats."
        )
    if isinstance(value, Criterion):
        return value
    if isinstance(value, str):
        return registry().criterion(value, space)
    if callable(value) and not isinstance(value, type):
        made = value(space)
        if isinstance(made, Criterion):
            return made
        raise TypeError(
            f"criterion must return a Criterion for a secret space, got {type(made).__name__}."
        )
    raise ValueError(
        f"criterion must be None, one of {', '.join(map(repr, registry().names('criterion')))} "
        "('35_of_n' is 'k_of_n' with a number for k), a Criterion, or a callable that makes one "
        f"for a secret space, got {value!r}."
    )


def check_cap(
    criterion: Criterion | None,
    cap: float,
    space: Space,
    *,
    allow_exact: bool = False,
) -> None:
    """Refuse a cap that guessing blindly passes, or that caps nothing.

    Raises
    ------
    BudgetError
    """
    if criterion is None:
        if cap >= space.entropy and not allow_exact:
            raise BudgetError(
                f"budget={cap:.6g} nats covers the whole secret: {space.n_candidates} candidates "
                f"have an entropy of {space.entropy:.6g} nats, so nothing would be hidden, and "
                "results published as they are. Give less, for instance budget=1/16, or "
                "allow_exact=True if that is what you want."
            )
        return
    blind = float(criterion.prior(space.weights).max())
    # At or below the blind success no noise is enough; the comparison refuses NaN as well.
    if not blind < cap < 1:
        raise BudgetError(
            f"budget={cap!r} caps the adversary's success at criterion {criterion.name!r}, where "
            f"guessing blindly has {blind:.6g}; give a cap between that and 1, for instance "
            f"budget={(1 + 9 * blind) / 10:.3g}."
        )


def ledger_unit(criterion: Criterion | None) -> str:
    """What a session's ledger counts."""
    return "nats" if criterion is None else f"success at {criterion.name}"
