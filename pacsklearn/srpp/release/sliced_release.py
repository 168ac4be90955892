"""A Pufferfish release: a plan that the one procedure takes, and how it is charged."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.estimators.model_digest import mark_released
from pacsklearn.estimators.released_tables import RELEASED
from pacsklearn.exceptions import BudgetError, ScenarioError
from pacsklearn.kernel.guarantee.statement_rendering import percent_up
from pacsklearn.kernel.guarantee.status import REPRODUCIBLE
from pacsklearn.kernel.ledger.event import Event, Provenance
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger
from pacsklearn.kernel.noise.noise_law import Integers
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.release.account import Account, Secret
from pacsklearn.kernel.release.plan import Part, Plan
from pacsklearn.kernel.release.procedure import Procedure
from pacsklearn.kernel.release.release import Release
from pacsklearn.srpp.laws.sliced_law import SlicedLaw
from pacsklearn.srpp.release.calibrated_worlds import (
    CalibratedWorlds,
    SlicedOptions,
    StatedRows,
    calibrated_worlds,
)
from pacsklearn.srpp.release.events import SlicedNoise
from pacsklearn.srpp.release.pufferfish_guarantee import PufferfishGuarantee
from pacsklearn.srpp.release.renyi_unit import check_unit
from pacsklearn.srpp.release.statement import pufferfish_guarantee
from pacsklearn.srpp.release.world_outputs import Query, drawn_world, own_output, true_secret
from pacsklearn.srpp.scenarios.scenario import Scenario, Worlds
from pacsklearn.universe.frame import column_names

_NOISE = {
    "isotropic": "the same in every direction",
    "anisotropic": "shaped by direction (least power)",
}


@final
@dataclass(frozen=True, eq=False, repr=False)
class WorldPrior:
    """What the true data set is drawn from: a secret unless it was stated, then one of its own.

    Parameters
    ----------
    worlds : Worlds
    realized : object
        The true secret where the curator states it.
    """

    worlds: Worlds
    realized: Any

    @property
    def weights(self) -> NDArray[np.float64]:
        """Prior probabilities of the secrets."""
        return np.asarray(self.worlds.prior, dtype=np.float64)

    def draw(self, sampler: Sampler) -> int:
        """Draw the number of a data set."""
        secret = true_secret(self.worlds, self.realized, sampler)
        return drawn_world(self.worlds, secret, sampler)


@final
@dataclass(frozen=True, eq=False, repr=False)
class SlicedPlan(Plan):
    """A release of a query under a scenario, calibrated for whichever secret is true.

    Parameters
    ----------
    calibrated : CalibratedWorlds
    query : Query
    rows : StatedRows
    shape : {"isotropic", "anisotropic"}
        Of the noise.
    provenance : tuple of Provenance
    """

    calibrated: CalibratedWorlds
    query: Query
    rows: StatedRows
    shape: str
    provenance: tuple[Provenance, ...]

    kind = "sliced"

    @property
    def n_outputs(self) -> int:
        return self.calibrated.profile.dimension

    @property
    def released(self) -> tuple[str, ...]:
        return self.query.form.canonicalizer.noised

    @property
    def public(self) -> tuple[str, ...]:
        return self.query.public(self.calibrated.outputs.first.layout)

    def calibrate(self, belief: NDArray[np.float64]) -> SlicedLaw:
        """Return the law for any prior.

        A divergence of two secrets' releases does not depend on one.
        """
        return self.calibrated.law

    def event(self, law: SlicedLaw, unit: str, n_candidates: int) -> SlicedNoise:
        return SlicedNoise(
            kind=self.kind,
            charge=law.cost,
            unit=unit,
            backend=self.shape,
            bound=law.cost,
            n_candidates=n_candidates,
            n_outputs=self.n_outputs,
            n_noisy=law.n_noisy,
            provenance=self.provenance,
            aggregation=law.aggregation,
            order=law.costs.order,
            average=law.costs.average,
            joint=law.costs.joint,
            worst_slice=law.costs.worst_slice,
            full=law.costs.full,
        )

    def observe(self, law: SlicedLaw, secret: Secret) -> Integers:
        if self.calibrated.scenario.redrawn:
            centre = law.centres[secret.index]
        else:
            # The first look at the table: what fails on it, or takes long, is paid for already.
            own = own_output(self.query, self.calibrated.outputs, self.rows.X, self.rows.y)
            centre = law.point(own)
        return law.observe(centre, secret.sampler)

    def learn(self, law: SlicedLaw, observed: Integers, secret: Secret) -> None:
        """Learn nothing.

        Divergences of further releases add up whatever has come out (composition).
        """

    def value(self, law: SlicedLaw, observed: Integers) -> Any:
        return self.query.form.decode(law.decode(observed), self.calibrated.outputs.first.layout)

    def parts(self, law: SlicedLaw, observed: Integers) -> list[Part]:
        return [Part(law, self.value(law, observed), None)]


@final
@dataclass(frozen=True, eq=False, repr=False)
class SlicedProcedure(Procedure):
    """How a sliced release is taken.

    Parameters
    ----------
    options : SlicedOptions
    calibrated : CalibratedWorlds
    secret : Secret
    account : Account
        The release's own, and the one that is shared.
    lock : lock
    """

    options: SlicedOptions
    calibrated: CalibratedWorlds
    secret: Secret
    account: Account
    lock: AbstractContextManager[Any]

    @property
    def n_candidates(self) -> int:
        """Data sets that are listed."""
        return len(self.calibrated.worlds.worlds)

    def check_again(self) -> None:
        """Check nothing again.

        The ledger adds up releases, and what does not add is made only once.
        """

    def certify(self, law: SlicedLaw, belief: NDArray[np.float64] | None) -> None:
        """Certify nothing more: the success of the best attack is part of what was calibrated."""

    def note(self, law: SlicedLaw) -> None:
        """Note nothing: no further law follows from this one."""

    def check_hides(self, event: Event, plan: Plan, law: SlicedLaw) -> None:
        stated = self.guarantee_after(event, plan, law)
        consents = self.options.budget.allow_exact
        if not consents and stated.needs_consent and stated.success is not None:
            raise BudgetError(
                f"budget={stated.budget:.6g} would hide nothing: the best attack tells a pair of "
                f"secrets apart in {percent_up(stated.success.pair)} % of cases. Give less, for "
                f"instance budget=1.0, or Renyi({stated.budget:.6g}, allow_exact=True) if that is "
                "what you want; it is never published then."
            )

    def guarantee_after(self, event: Event, plan: Plan, law: SlicedLaw) -> PufferfishGuarantee:
        charged = self.account.own if self.account.shared is None else self.account.shared
        return pufferfish_guarantee(
            self.calibrated,
            budget=self.options.budget.amount,
            unit=event.unit,
            noise=_NOISE[self.options.noise.shape],
            charged=charged.spent,
            n_releases=len(charged.events),
            released=plan.released,
            public=plan.public,
            not_for_release="" if self.secret.sampler.is_secure else REPRODUCIBLE,
            provenance=plan.provenance,
        )

    def release(self, plan: SlicedPlan) -> Release:
        """Take a plan, and state what is promised about it."""
        law, event, observed, _ = self.take(plan)
        stated = self.guarantee_after(event, plan, law)
        guarantee = replace(stated, ledger_head=self.account.head)
        return Release(
            value=mark_released(plan.value(law, observed), guarantee),
            guarantee=guarantee,
            event=event,
            noise_power=law.noise_power,
            released_power=law.noise_power,
        )


def sliced_release(
    query: Query,
    scenario: Scenario,
    rows: StatedRows,
    options: SlicedOptions,
    *,
    fitting: FitOptions,
    ledger: Ledger | None,
    sampler: Sampler,
    provenance: tuple[Provenance, ...],
) -> Release:
    """Release what the query gives for the true secret, noised.

    Parameters
    ----------
    query : Query
    scenario : Scenario
    rows : StatedRows
    options : SlicedOptions
    fitting : FitOptions
        Parameters of ``fit``, and workers.
    ledger : Ledger or None
        Shared account; None for one of this release.
    sampler : Sampler
        Draws the secret and the data set, where they are drawn, and the noise.
    provenance : tuple of Provenance

    Returns
    -------
    Release

    Raises
    ------
    BudgetExhaustedError
        Before anything is computed, when the ledger cannot bear the budget.
    BudgetError
        When the law hides nothing and the budget does not consent; nothing is charged.
    LedgerMismatchError
        When the ledger counts something else; nothing is charged.
    ScenarioError
        When the curator states no secret where one is asked for.
    """
    epsilon = options.budget.amount
    _check_stated(scenario, rows.realized, ledger, fitting.fit_params)
    if ledger is not None:
        ledger.check(epsilon)
    calibrated = calibrated_worlds(query, scenario, rows, options, fitting)
    worlds = calibrated.worlds
    if not scenario.redrawn:
        _check_form(calibrated, rows.X)
    if rows.realized is not None:
        # A secret that is none of the scenario's fails here, before anything is charged.
        worlds.index(rows.realized)
    unit = options.unit(calibrated.profile, scenario, rows.secret_name)
    if ledger is not None:
        check_unit(ledger.unit, unit)
    # A mean over draws of tables says nothing of two releases about one of them.
    cap = calibrated.law.cost if scenario.redrawn else None

    def announce(charged: Account) -> None:
        RELEASED.add(rows.X, cap, charged.own.unit, charged.shared)

    account = Account(MemoryLedger(epsilon, unit), ledger, announce=announce)
    account.check(epsilon)
    secret = Secret(WorldPrior(worlds, rows.realized), sampler)
    procedure = SlicedProcedure(options, calibrated, secret, account, threading.RLock())
    plan = SlicedPlan(calibrated, query, rows, options.noise.shape, provenance)
    return procedure.release(plan)


def _check_stated(scenario: Scenario, realized: Any, ledger: Any, params: Any) -> None:
    name = type(scenario).__name__
    if scenario.stated and realized is None:
        raise ScenarioError(f"{name} needs to know the true secret; call fit(..., realized=...).")
    if scenario.redrawn:
        return
    if ledger is not None:
        raise ScenarioError(
            f"Releases of one table under {name} do not add up: each is certified on average over "
            "draws, and the draws are the same. Release everything at once, from one function, and "
            "leave the ledger out."
        )
    if params:
        raise ScenarioError(
            "Parameters of fit have values for the rows given, and the scenario draws others; "
            f"leave out {', '.join(sorted(params))}."
        )


def _check_form(calibrated: CalibratedWorlds, X: Any) -> None:
    """Refuse a table that the scenario's laws cannot draw."""
    least, most = calibrated.outputs.sizes
    if not least <= X.shape[0] <= most:
        drawn = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        raise ScenarioError(
            f"X has {X.shape[0]:,} rows, and the tables that the scenario draws have {drawn}: the "
            "promise is about tables that are drawn like that, and would say nothing about yours. "
            "Draw tables of as many rows: PrevalenceScenario(size=...), or in the simulator."
        )
    here, there = X.shape[1], calibrated.outputs.rows.shape[1]
    if here != there:
        raise ScenarioError(
            f"X has {here} columns, and the tables that the scenario draws have {there}; they must "
            "be of the same form."
        )
    ours, theirs = column_names(X), column_names(calibrated.outputs.rows)
    if ours is not None and theirs is not None and ours != theirs:
        mine, drawn = next(pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1])
        raise ScenarioError(
            f"X has a column {mine!r} where the tables that the scenario draws have {drawn!r}: "
            "numbers of one would be released as the other's. Name and order columns alike."
        )
