"""What each of several planned releases may reveal."""

from __future__ import annotations

from collections.abc import Sequence

from pacsklearn._validation import check_budget
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.release.procedure import ReleaseProcedure

# Shares of a budget must not add up to more than it, in doubles.
_INWARD = 1 - 2.0**-40


def planned_targets(
    procedure: ReleaseProcedure, n_releases: int, budgets: Sequence[float] | None
) -> list[Target]:
    """Return what each of several planned releases may reveal, if all of them fit.

    Parameters
    ----------
    procedure : ReleaseProcedure
    n_releases : int
    budgets : sequence of float or None
        Equal shares of what remains when None.

    Raises
    ------
    BudgetExhaustedError
        Before anything is fitted.
    ValueError
        When there is nothing planned, there is another number of budgets, or the session caps a
        criterion.
    """
    terms = procedure.terms
    if n_releases == 0:
        raise ValueError("releases must hold at least one estimator or function, got none.")
    if terms.criterion is not None and n_releases > 1:
        raise ValueError(
            "criterion must be None for several planned releases: caps on the adversary's "
            "success do not add up over them."
        )
    if budgets is None:
        whole = procedure.check(None)
        if n_releases == 1:
            return [whole]
        share = procedure.account.remaining / n_releases * _INWARD
        return [terms.target(share, n_releases)] * n_releases
    given = [check_budget(budget=budget, name="budgets") for budget in budgets]
    if len(given) != n_releases:
        raise ValueError(
            f"budgets must have one entry for each of the {n_releases} planned releases, got "
            f"{len(given)}."
        )
    procedure.check(sum(given))
    return [terms.target(amount, n_releases) for amount in given]
