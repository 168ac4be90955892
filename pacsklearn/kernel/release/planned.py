"""Several releases of one secret, planned together: one charge, one certified figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_budget
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.noise.joint_law import JointLaw
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Target
from pacsklearn.kernel.outputs.outputs import observe
from pacsklearn.kernel.release.account import Account
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.kernel.release.rehearsal import public_integers
from pacsklearn.kernel.release.release import Release

# Shares of a budget must not add up to more than it, in doubles.
_INWARD = 1 - 2.0**-40


class ReleasePlan(Protocol):
    """A release up to what needs the secret: of parameters, or of a function's value."""

    @property
    def target(self) -> Target: ...
    @property
    def provenance(self) -> tuple[Provenance, ...]: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def released(self) -> tuple[str, ...]: ...
    @property
    def public(self) -> tuple[str, ...]: ...
    def calibrate(self, belief: Floats) -> NoiseLaw: ...
    def value(self, vector: Floats) -> Any: ...


def planned_targets(
    check: Callable[[float | None], float],
    account: Account,
    n_releases: int,
    budgets: Sequence[float] | None,
    criterion: Criterion | None = None,
) -> list[Target]:
    """What each of the planned releases may reveal, if all of them fit under the ceilings.

    Parameters
    ----------
    check : callable
        Of nats asked for, as ``Account.check``.
    account : Account
    n_releases : int
    budgets : sequence of float or None
        Equal shares of what remains when None.
    criterion : Criterion, optional

    Raises
    ------
    BudgetExhaustedError
        Before anything is fitted.
    ValueError
        When there is nothing planned, there is another number of budgets, or the session caps a
        criterion.
    """
    if n_releases == 0:
        raise ValueError("releases must hold at least one estimator or function, got none.")
    if criterion is not None and n_releases > 1:
        raise ValueError(
            "criterion must be None for several planned releases: caps on the adversary's success "
            "do not add up over them."
        )
    if budgets is None:
        whole = check(None)
        share = whole if n_releases == 1 else account.remaining / n_releases * _INWARD
        return [Target(share, criterion)] * n_releases
    given = [check_budget(budget=budget, name="budgets") for budget in budgets]
    if len(given) != n_releases:
        raise ValueError(
            f"budgets must have one entry for each of the {n_releases} planned releases, got "
            f"{len(given)}."
        )
    check(sum(given))
    return [Target(amount, criterion) for amount in given]


def release_planned(
    procedure: ReleaseProcedure, plans: Sequence[ReleasePlan], *, certify: bool
) -> tuple[Release, ...]:
    """Calibrate all plans to one belief, charge their sum, and only then draw.

    Parameters
    ----------
    procedure : ReleaseProcedure
    plans : sequence of ReleasePlan
        In order.
    certify : bool
        Certify the success at memberships under all laws together, where nothing was released yet.
    """
    n_outputs = sum(plan.n_outputs for plan in plans)
    procedure.warn_of_few(n_outputs)
    provenance = tuple(dict.fromkeys(used for plan in plans for used in plan.provenance))

    def observed_under(law: JointLaw) -> tuple[NDArray[np.int64], ...]:
        secret = procedure.secret
        return tuple(observe(one, secret.index, secret.sampler) for one in law.laws)

    def values(law: JointLaw, observed: Sequence[NDArray[np.int64]]) -> list[Any]:
        taken = zip(plans, law.laws, observed, strict=True)
        return [plan.value(one.decode(integers)) for plan, one, integers in taken]

    law, event, observed = procedure.take(
        lambda belief: JointLaw(tuple(plan.calibrate(belief) for plan in plans)),
        lambda law: procedure.event(
            "planned",
            law,
            n_outputs,
            sum(0 if one.is_noiseless else one.dimension for one in law.laws),
            provenance,
        ),
        observed_under,
        rehearse=lambda law: values(law, [public_integers(one) for one in law.laws]),
        certify=certify,
    )
    guarantee = procedure.guarantee_of(
        sum(plan.target.budget for plan in plans),
        law,
        noiseless=all(one.is_noiseless for one in law.laws),
        released=_distinct(plan.released for plan in plans),
        public=_distinct(plan.public for plan in plans),
        provenance=provenance,
    )
    released = zip(law.laws, values(law, observed), strict=True)
    return tuple(Release.under(one, value, guarantee, event) for one, value in released)


def one_budget(budget: float | None) -> list[float] | None:
    """Budgets of a plan of one release."""
    return None if budget is None else [budget]


def not_releasable(number: int, given: Any) -> TypeError:
    """What is wrong with something planned that is neither an estimator nor a function."""
    return TypeError(
        f"releases[{number}] must be an estimator or a function, got an object of type "
        f"{type(given).__name__}."
    )


def _distinct(names: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for group in names for name in group))
