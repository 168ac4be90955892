"""What of a Pufferfish release is the same whichever secret is true: outputs, distances, noise."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.srpp.laws.coupled_draws import coupled_law
from pacsklearn.srpp.laws.slice_profile import SliceProfile
from pacsklearn.srpp.laws.sliced_gaussian import SlicedTarget, sliced_law
from pacsklearn.srpp.laws.sliced_law import SlicedLaw
from pacsklearn.srpp.parameters.renyi import Renyi
from pacsklearn.srpp.parameters.slices import Noise, Slices
from pacsklearn.srpp.release.best_attack import bayes_success
from pacsklearn.srpp.release.pufferfish_guarantee import BayesSuccess
from pacsklearn.srpp.release.renyi_unit import renyi_unit
from pacsklearn.srpp.release.world_outputs import Query, WorldOutputs, world_outputs
from pacsklearn.srpp.scenarios.checks import confidence_of
from pacsklearn.srpp.scenarios.scenario import Scenario, SecretColumn, Worlds


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
        """Return what the noise has to achieve."""
        return SlicedTarget(
            epsilon=self.budget.amount,
            order=float(self.budget.order),
            aggregation=self.slices.aggregation,
            profile=profile,
            anisotropic=self.noise.shape == "anisotropic",
            delta=float(self.budget.delta),
        )

    def unit(self, profile: SliceProfile | None, scenario: Scenario, named: str | None) -> str:
        """Return the unit of a ledger that can bear such releases about a secret of that name."""
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
        confidence = confidence_of(scenario)
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
    """Return everything of a law that a release shows, but for the released numbers, as one text.

    Grid and axes can be read off the numbers; origin, costs and sizes are printed or follow.
    """
    law = calibrated.law
    digest = hashlib.sha256()
    for array in (law.step, law.axes, law.origin):
        # With the shape: arrays of the same bytes may still be other laws.
        digest.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    figures = f"{law.scale} {law.costs!r} {calibrated.success!r}"
    return f"{digest.hexdigest()} {figures} {calibrated.profile.digest}"
