"""A Pufferfish release: data sets, distances, noise, charge, and only then the draw."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import as_inner_share
from pacsklearn.estimators.released_tables import RELEASED
from pacsklearn.exceptions import BudgetError, ScenarioError
from pacsklearn.kernel.guarantee.model_digest import mark_released
from pacsklearn.kernel.guarantee.statement_rendering import percent_up
from pacsklearn.kernel.guarantee.status import REPRODUCIBLE
from pacsklearn.kernel.ledger.event import Provenance, SlicedNoise
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.release.plan import public_integers
from pacsklearn.kernel.release.release import Release
from pacsklearn.srpp.laws.coupled_draws import coupled_law
from pacsklearn.srpp.laws.slice_profile import SliceProfile
from pacsklearn.srpp.laws.sliced_gaussian import SlicedTarget, sliced_law
from pacsklearn.srpp.laws.sliced_law import SlicedLaw
from pacsklearn.srpp.parameters.noise import Noise
from pacsklearn.srpp.parameters.renyi import Renyi
from pacsklearn.srpp.parameters.slices import Slices
from pacsklearn.srpp.release.bayes_success import BayesSuccess
from pacsklearn.srpp.release.best_attack import bayes_success
from pacsklearn.srpp.release.pufferfish_guarantee import PufferfishGuarantee
from pacsklearn.srpp.release.renyi_unit import check_unit, renyi_unit
from pacsklearn.srpp.release.statement import pufferfish_guarantee
from pacsklearn.srpp.release.world_outputs import (
    Query,
    WorldOutputs,
    drawn_world,
    own_output,
    true_secret,
    world_outputs,
)
from pacsklearn.srpp.scenarios.scenario import Scenario, SecretColumn, Worlds

Integers = NDArray[np.int64]

_NOISE = {
    "isotropic": "the same in every direction",
    "anisotropic": "shaped by direction (least power)",
}


@final
@dataclass(frozen=True, eq=False)
class SlicedOptions:
    """What is promised about a release, along which slices, and the shape of its noise.

    Parameters
    ----------
    budget : Renyi
    slices : Slices, optional
    noise : Noise, optional
    """

    budget: Renyi
    slices: Slices = field(default_factory=Slices)
    noise: Noise = field(default_factory=Noise)

    def target(self, profile: SliceProfile) -> SlicedTarget:
        """What the noise has to achieve."""
        return SlicedTarget(
            epsilon=self.budget.amount,
            order=float(self.budget.order),
            aggregation=self.slices.aggregation,
            profile=profile,
            anisotropic=self.noise.shape == "anisotropic",
            delta=float(self.budget.delta),
        )

    def unit(self, profile: SliceProfile | None, scenario: Scenario, named: str | None) -> str:
        """Unit of a ledger that can bear such releases about a secret of that name."""
        return renyi_unit(
            order=float(self.budget.order),
            aggregation=self.slices.aggregation,
            profile=profile,
            scenario=scenario,
            secret_name=named,
        )


@final
@dataclass(frozen=True, eq=False)
class CalibratedWorlds:
    """Everything that is known before the draw, the same whichever secret is true.

    Curator's material: it holds the outputs of all data sets.

    Parameters
    ----------
    scenario : Scenario
    worlds : Worlds
    outputs : WorldOutputs
    law : SlicedLaw
    profile : SliceProfile
    success : BayesSuccess
        Of the best attack on this law.
    """

    scenario: Scenario
    worlds: Worlds
    outputs: WorldOutputs
    law: SlicedLaw
    profile: SliceProfile
    success: BayesSuccess

    def __repr__(self) -> str:
        return "CalibratedWorlds(...)"

    def observed(self, centre: Integers, sampler: Sampler) -> Integers:
        """What is released for a data set's whole numbers."""
        size = self.law.dimension
        still = self.law.is_noiseless
        noise = np.zeros(size, dtype=np.int64) if still else sampler.noise(size)
        return self.law.observe(centre, noise)


@final
@dataclass(frozen=True, eq=False, repr=False)
class StatedRows:
    """Rows that a scenario is about, and what is said of the secret in them.

    Parameters
    ----------
    X, y : array-likes
    secret : SecretColumn, optional
    realized : object
        The true secret where the curator states it.
    secret_name : str, optional
        What the user calls the secret; part of the unit.
    """

    X: Any
    y: Any = None
    secret: SecretColumn | None = None
    realized: Any = None
    secret_name: str | None = None


def calibrated_worlds(
    query: Query,
    scenario: Scenario,
    rows: StatedRows,
    options: SlicedOptions,
    fitting: FitOptions | None = None,
) -> CalibratedWorlds:
    """Compute every data set's output and the noise that hides which secret is true.

    Which one is true is not asked for. Where the table itself is released on, its rows are not
    looked at either: everything follows from the scenario's reference.
    """
    table = rows.X, rows.y, rows.secret
    if not scenario.redrawn:
        if options.noise.shape != "isotropic":
            raise ValueError(
                f"noise={options.noise.shape!r} is for listed training sets; where the table is "
                "one draw from a law use noise='isotropic'."
            )
        confidence = as_inner_share("confidence", scenario.confidence)
        table = scenario.reference or (None, None, None)
    worlds, how = scenario.worlds(*table), fitting or FitOptions()
    outputs = world_outputs(
        query,
        worlds,
        *table[:2],
        how.fit_params,
        metric=options.noise.metric,
        some_may_fail=not scenario.redrawn,
        n_jobs=how.n_jobs,
    )
    profile = options.slices.of(outputs.vectors.shape[1])
    target = options.target(profile)
    if scenario.redrawn:
        law = sliced_law(outputs.vectors, worlds, target, outputs.metric)
    else:
        law = coupled_law(
            outputs.vectors, outputs.failed, worlds, target, outputs.metric, confidence
        )
    success = bayes_success(law, worlds, profile)
    return CalibratedWorlds(scenario, worlds, outputs, law, profile, success)


def published_figures(calibrated: CalibratedWorlds) -> str:
    """Everything of a law that a release shows, but for the released numbers, as one text.

    Grid and axes can be read off the numbers; origin, costs and sizes are printed or follow.
    """
    law = calibrated.law
    digest = hashlib.sha256()
    for array in (law.step, law.axes, law.origin):
        # With the shape: arrays of the same bytes may still be other laws.
        digest.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    figures = f"{law.scale} {law.costs!r} {calibrated.success!r}"
    return f"{digest.hexdigest()} {figures} {calibrated.profile.digest}"


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
        When the curator states a secret that is not asked for, or none that is.
    """
    X, realized, epsilon = rows.X, rows.realized, options.budget.amount
    _check_stated(scenario, realized, ledger, fitting.fit_params)
    if ledger is not None:
        ledger.check(epsilon)
    calibrated = calibrated_worlds(query, scenario, rows, options, fitting)
    if not scenario.redrawn:
        _check_form(calibrated, X)
    if realized is not None:
        # A secret that is none of the scenario's fails here, before anything is charged.
        calibrated.worlds.index(realized)
    law = calibrated.law
    unit = options.unit(calibrated.profile, scenario, rows.secret_name)
    account = MemoryLedger(epsilon, unit) if ledger is None else ledger
    check_unit(account.unit, unit)
    account.check(epsilon)
    event = SlicedNoise(
        kind="sliced",
        charge=law.cost,
        unit=unit,
        backend=options.noise.shape,
        bound=law.cost,
        n_candidates=len(calibrated.worlds.worlds),
        n_outputs=calibrated.profile.dimension,
        n_noisy=0 if law.is_noiseless else law.dimension,
        provenance=provenance,
        aggregation=law.aggregation,
        order=law.costs.order,
        average=law.costs.average,
        joint=law.costs.joint,
        worst_slice=law.costs.worst_slice,
        full=law.costs.full,
    )
    stated = pufferfish_guarantee(
        calibrated,
        budget=epsilon,
        unit=unit,
        noise=_NOISE[options.noise.shape],
        charged=account.spent,
        n_releases=len(account.events),
        released=query.released,
        public=query.public(calibrated.outputs.first.layout),
        not_for_release="" if sampler.is_secure else REPRODUCIBLE,
        provenance=provenance,
    )
    if not options.budget.allow_exact:
        _check_hidden(stated)
    # What will be done with the released numbers is done with public ones first.
    query.decode(law.decode(public_integers(law)), calibrated.outputs.first.layout)
    # A mean over draws of tables says nothing of two releases about one of them.
    cap = law.cost if scenario.redrawn else None
    RELEASED.add(X, cap, unit, None if ledger is None else account)
    # Before secret, data set and noise are drawn: a crash loses an answer, never a charge.
    account.charge(event)
    if scenario.redrawn:
        secret = true_secret(calibrated.worlds, realized, sampler)
        centre = law.centres[drawn_world(calibrated.worlds, secret, sampler)]
    else:
        # The first look at the table: what fails on it, or takes long, is paid for already.
        centre = law.point(own_output(query, calibrated.outputs, X, rows.y))
    vector = law.decode(calibrated.observed(centre, sampler))
    guarantee = replace(
        stated,
        charged=account.spent,
        n_releases=len(account.events),
        ledger_head=account.head,
    )
    return Release(
        value=mark_released(query.decode(vector, calibrated.outputs.first.layout), guarantee),
        guarantee=guarantee,
        event=event,
        noise_power=law.noise_power,
        released_power=law.noise_power,
    )


def _check_hidden(stated: PufferfishGuarantee) -> None:
    """Refuse a law that hides nothing, by what would be stated of it."""
    if stated.needs_consent and stated.success is not None:
        raise BudgetError(
            f"budget={stated.budget:.6g} would hide nothing: the best attack tells a pair of "
            f"secrets apart in {percent_up(stated.success.pair)} % of cases. Give less, for "
            f"instance budget=1.0, or Renyi({stated.budget:.6g}, allow_exact=True) if that is what "
            "you want; it is never published then."
        )


def _check_stated(scenario: Scenario, realized: Any, ledger: Any, params: Any) -> None:
    name = type(scenario).__name__
    if scenario.stated and realized is None:
        raise ScenarioError(f"{name} needs to know the true secret; call fit(..., realized=...).")
    if scenario.redrawn:
        return
    if realized is not None:
        raise ScenarioError(
            f"{name} takes no realized here: the release is made on the table, and nothing "
            "depends on which secret is true."
        )
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
