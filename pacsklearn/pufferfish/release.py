"""A sliced Pufferfish release: worlds, distances, noise, charge, and only then the draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.event import Event, Provenance
from pacsklearn.core.layout import Layout
from pacsklearn.core.ledger import Ledger, MemoryLedger
from pacsklearn.core.mechanism import SlicedNoise
from pacsklearn.core.release import Release
from pacsklearn.core.renyi_unit import check_unit, renyi_unit
from pacsklearn.core.scenario import Scenario, Worlds
from pacsklearn.core.slice_profile import SliceProfile
from pacsklearn.core.sliced_law import SlicedLaw
from pacsklearn.exceptions import BudgetExhaustedError
from pacsklearn.noise.sampler import Sampler
from pacsklearn.noise.sliced_gaussian import sliced_law
from pacsklearn.noise.sliced_target import SlicedTarget
from pacsklearn.pufferfish.statement import pufferfish_guarantee
from pacsklearn.pufferfish.world_outputs import Query, world_outputs

__all__ = ["CalibratedWorlds", "SlicedOptions", "calibrated_worlds", "sliced_release"]

_NOISE = {
    "isotropic": "the same in every direction",
    "anisotropic": "shaped by direction (least power)",
    "worst-case": "the same in every direction, for the largest distance of any two data sets",
}


@final
@dataclass(frozen=True)
class SlicedOptions:
    """How much noise, and of what shape.

    Parameters
    ----------
    epsilon, order : float
        Allowed Renyi divergence and its order.
    aggregation : str
        ``"average"``, ``"joint"`` or ``"full"``.
    noise : str
        ``"isotropic"``, ``"anisotropic"`` or ``"worst-case"``.
    profile : callable
        Slice profile for a number of outputs.
    delta : float
        Of the (epsilon, delta) conversions.
    confidence : float
        Below 1, data sets and directions count as samples.
    largest_distance : float, optional
        For a confidence below 1.
    """

    epsilon: float
    order: float
    aggregation: str
    noise: str
    profile: Callable[[int], SliceProfile]
    delta: float
    confidence: float = 1.0
    largest_distance: float | None = None


@final
@dataclass(frozen=True, eq=False)
class CalibratedWorlds:
    """Everything that is known before the draw. Secret material, for the curator alone.

    Parameters
    ----------
    worlds : Worlds
    vectors : ndarray of shape (n_worlds, d)
    layout : Layout
    law : SlicedLaw
    profile : SliceProfile
    coupled : bool
    """

    worlds: Worlds
    vectors: NDArray[np.float64]
    layout: Layout
    law: SlicedLaw
    profile: SliceProfile
    coupled: bool

    def __repr__(self) -> str:
        return "CalibratedWorlds(...)"


def calibrated_worlds(
    query: Query,
    worlds: Worlds,
    X: Any,
    y: Any,
    options: SlicedOptions,
    *,
    params: Mapping[str, Any] | None = None,
    coupled: bool = False,
    n_jobs: int | None = None,
) -> CalibratedWorlds:
    """Compute every world's output and the noise that hides which secret is true."""
    vectors, layout = world_outputs(query, worlds, X, y, params or {}, n_jobs=n_jobs)
    profile = options.profile(vectors.shape[1])
    target = SlicedTarget(
        epsilon=options.epsilon,
        order=options.order,
        aggregation=options.aggregation,
        profile=profile,
        anisotropic=options.noise == "anisotropic",
        worst_case=options.noise == "worst-case",
        coupled=coupled,
        delta=options.delta,
        confidence=options.confidence,
        largest_distance=options.largest_distance,
    )
    law = sliced_law(vectors, worlds, target)
    return CalibratedWorlds(worlds, vectors, layout, law, profile, coupled)


def sliced_release(
    query: Query,
    scenario: Scenario,
    worlds: Worlds,
    X: Any,
    y: Any,
    options: SlicedOptions,
    *,
    params: Mapping[str, Any],
    ledger: Ledger | Callable[[str], Ledger] | None,
    sampler: Sampler,
    provenance: tuple[Provenance, ...],
    n_jobs: int | None = None,
) -> Release:
    """Release what the query gives for the true secret, noised.

    Parameters
    ----------
    query : Query
    scenario : Scenario
    worlds : Worlds
        The scenario over ``X`` and ``y``.
    X, y : array-likes
    options : SlicedOptions
    params : mapping
        Passed to ``fit``.
    ledger : Ledger, callable or None
        Shared account, or a function of the unit that opens it; None for one of this release.
    sampler : Sampler
        Draws the data set, where one is drawn, and the noise.
    provenance : tuple of Provenance
    n_jobs : int, optional

    Returns
    -------
    Release

    Raises
    ------
    BudgetExhaustedError
        Before anything is computed, when the ledger cannot bear ``options.epsilon``.
    LedgerMismatchError
        When the ledger counts something else; nothing is charged.
    """
    if isinstance(ledger, Ledger):
        _check_room(ledger, options.epsilon)
    # Releases on the same rows add up when one coupling serves them all (srpp, Theorem 5.8).
    coupled = ledger is not None and not scenario.redrawn
    found = calibrated_worlds(
        query, worlds, X, y, options, params=params, coupled=coupled, n_jobs=n_jobs
    )
    law = found.law
    unit = renyi_unit(
        order=options.order,
        aggregation=options.aggregation,
        profile=found.profile,
        scenario=scenario,
    )
    if ledger is None:
        account: Ledger = MemoryLedger(options.epsilon, unit)
    else:
        account = ledger if isinstance(ledger, Ledger) else ledger(unit)
    check_unit(account.unit, unit)
    _check_room(account, options.epsilon)
    event = Event(
        kind="sliced",
        charge=law.cost,
        unit=unit,
        backend=options.noise,
        bound=law.cost,
        n_candidates=len(worlds.worlds),
        n_outputs=law.dimension,
        n_noisy=0 if law.is_noiseless else law.dimension,
        provenance=provenance,
        mechanism=SlicedNoise(
            shape=options.noise,
            aggregation=options.aggregation,
            order=law.costs.order,
            average=law.costs.average,
            joint=law.costs.joint,
            worst_slice=law.costs.worst_slice,
            full=law.costs.full,
        ),
    )
    account.charge(event)
    members = worlds.law(worlds.realized, 0).members
    drawn = members[0]
    if scenario.redrawn and len(members) > 1:
        drawn = members[sampler.index(np.full(len(members), 1 / len(members)))]
    size = law.dimension
    noise = np.zeros(size, dtype=np.int64) if law.is_noiseless else sampler.noise(size)
    value = query.decode(law.decode(law.observe(drawn, noise)), found.layout)
    guarantee = pufferfish_guarantee(
        scenario,
        worlds,
        law,
        found.profile,
        budget=options.epsilon,
        unit=unit,
        coupled=coupled,
        noise=_NOISE[options.noise],
        charged=account.spent,
        n_releases=len(account.events),
        released=query.released,
        public=query.public(found.layout),
        for_release=sampler.is_secure,
        provenance=provenance,
    )
    return Release(
        value=value,
        guarantee=guarantee,
        event=event,
        noise_power=law.noise_power,
        released_power=law.noise_power,
    )


def _check_room(ledger: Ledger, epsilon: float) -> None:
    if not ledger.allows(epsilon):
        raise BudgetExhaustedError(ledger.spent, epsilon, ledger.ceiling)
