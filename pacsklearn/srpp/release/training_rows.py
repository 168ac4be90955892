"""Which rows a run of gradient descent trains on, and how many of a batch the secret changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.exceptions import ScenarioError
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.noise.noise_law import Integers
from pacsklearn.kernel.noise.sampler import Sampler, SeededSampler
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.srpp.descent.discrepancy_cap import DiscrepancyCap
from pacsklearn.srpp.parameters.run_choices import RunChoices
from pacsklearn.srpp.release.run import RunRecord
from pacsklearn.srpp.release.world_differences import (
    WorldDifferences,
    coupled_counts,
    world_differences,
)
from pacsklearn.srpp.release.world_outputs import drawn_world, true_secret
from pacsklearn.srpp.scenarios.checks import check_unused, confidence_of
from pacsklearn.srpp.scenarios.differing_rows import DifferingRows
from pacsklearn.srpp.scenarios.scenario import Scenario, SecretColumn, Worlds
from pacsklearn.universe.samplers import sampler_for

# Two computations of one cap may differ so much.
_ROUNDING = 1e-9
# A tail that counts in every step of a run must be rarer than any number of draws can show: the
# worst batch of drawn tables is then all of a batch's rows, and the mean square is left to them.
_NEVER = 1e-12


@final
@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows of one call, and what is public about them. Secret material: it stays with the curator.

    Parameters
    ----------
    scenario : Scenario
    provenance : Provenance
    sampler : Sampler
    n_rows, batch_size : int
    cap : DiscrepancyCap
    differences : WorldDifferences
    chosen : ndarray of int, optional
        Rows of the table that were drawn; None for all.
    """

    scenario: Scenario
    provenance: Provenance
    sampler: Sampler
    n_rows: int
    batch_size: int
    cap: DiscrepancyCap
    differences: WorldDifferences
    chosen: Integers | None = field(default=None, repr=False)

    def of(self, values: Any) -> Any:
        """Return the rows of a table, a column or targets."""
        return values if self.chosen is None else safe_indexing(values, self.chosen)


def training_rows(
    choices: RunChoices,
    X: Any,
    y: Any,
    secret: SecretColumn | None,
    realized: Any,
    *,
    sample_weight: Any = None,
    record: RunRecord | None = None,
    goes_on: bool = False,
) -> TrainingRows:
    """Draw the training set, where the scenario draws one, and bound how many of its rows differ.

    The bound is the same whichever secret is true: it is taken over all data sets that the scenario
    lists, which do not depend on it; or over the draws of a reference or a simulator, before the
    table is looked at (srpp, Algorithms 3 and 4).

    Parameters
    ----------
    choices : RunChoices
    X, y : ndarrays or sparse matrices
    secret : SecretColumn, optional
    realized : object
        The true secret, where it is stated.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights that are trained with. Of rows that are drawn they are part; drawn tables have none.
    record : RunRecord, optional
        Of a run to go on with.
    goes_on : bool, default=False
        Whether the run may be gone on with.

    Raises
    ------
    ScenarioError
        When the scenario does not fit the rows, or ``discrepancy`` promises less than it.
    """
    sampler, drawing = _sampler(choices.random_state, record), choices.batches
    plugins = registry()
    named = DifferingRows() if choices.scenario is None else choices.scenario
    scenario, provenance = plugins.make("scenario", named), plugins.provenance("scenario", named)
    chosen, counts, n_rows = None, None, X.shape[0]
    cap = drawing.discrepancy
    if cap is not None and choices.scenario is None:
        raise ScenarioError(
            "discrepancy bounds how many rows the secret changes, and needs a scenario that says "
            "what the secret is."
        )
    unlisted = scenario.most_differing(n_rows)
    check_unused(scenario, secret, realized)
    if unlisted is not None:
        differences = WorldDifferences(unlisted)
    elif scenario.redrawn:
        worlds = scenario.worlds(X, y, secret)
        differences = world_differences(worlds, X, y)
        # Without noise nothing is promised, and no training set is drawn to be hidden.
        if choices.budget.hides:
            chosen = _drawn(scenario, worlds, realized, sampler, goes_on=goes_on)
            n_rows = chosen.size
    else:
        # Of the reference: a cap that looked at the table would be about it, and is published.
        reference = scenario.reference or (None, None, None)
        worlds = scenario.worlds(*reference)
        _check_drawn(worlds.worlds[0].data(*reference[:2]), X, sample_weight, scenario)
        differences = WorldDifferences.of(worlds, 0)
        counts = coupled_counts(worlds, n_rows)
    batches = n_rows, min(drawing.size, n_rows), drawing.sampling
    if counts is None:
        required = DiscrepancyCap.differing(n_rows, differences.n_differing, *batches[1:])
    else:
        # Also where a cap is given: it may be larger than what was drawn, and never smaller.
        required = DiscrepancyCap.coupled(
            counts, *batches, delta=_NEVER, gamma=1 - confidence_of(scenario)
        )
    used = required if cap is None else _checked_cap(cap, required, batches, scenario)
    return TrainingRows(
        scenario, provenance, sampler, n_rows, batches[1], used, differences, chosen
    )


def _drawn(
    scenario: Scenario, worlds: Worlds, realized: Any, sampler: Any, *, goes_on: bool
) -> Integers:
    if realized is None and (scenario.stated or goes_on):
        raise ScenarioError(
            f"{type(scenario).__name__} needs to know the true secret here; call "
            "fit(..., realized=...)."
            + (" A run that goes on cannot draw it anew: use fit for a run of its own." * goes_on)
        )
    secret = true_secret(worlds, realized, sampler)
    rows = worlds.worlds[drawn_world(worlds, secret, sampler)].rows
    if rows is None:
        raise ScenarioError(
            f"{type(scenario).__name__} lists training sets that are not rows of the table; "
            "gradient descent draws from its rows."
        )
    return np.asarray(rows)


def _check_drawn(drawn: tuple[Any, Any], X: Any, sample_weight: Any, scenario: Scenario) -> None:
    """Refuse what is trained on and is no part of the drawn tables, whose rows are counted."""
    name = type(scenario).__name__
    rows, targets = drawn
    if sample_weight is not None:
        raise ScenarioError(
            f"sample_weight is no part of the tables that {name} draws: weights that follow the "
            "secret would tell it, and no row that differs is counted for them. Leave it out, or "
            "use a scenario that draws training sets from the table, weights and all."
        )
    if targets is None:
        raise ScenarioError(
            f"{name} draws tables without targets, and y is trained on: how many targets the "
            "secret changes is not known. Draw (X, y)."
        )
    if np.shape(rows)[1:] != X.shape[1:]:
        raise ScenarioError(
            f"{name} draws rows of shape {np.shape(rows)[1:]} and X has rows of shape "
            f"{X.shape[1:]}: what the secret changes in the others is not known. Draw the columns "
            "that are trained on."
        )


def _checked_cap(
    cap: DiscrepancyCap,
    required: DiscrepancyCap,
    batches: tuple[int, int, str],
    scenario: Scenario,
) -> DiscrepancyCap:
    """Refuse a cap that is for other batches, or that promises less than the scenario does."""
    n_rows, batch_size, sampling = batches
    if (cap.n_rows, cap.batch_size, cap.sampling) != batches:
        raise ValueError(
            f"discrepancy is for batches of {cap.batch_size:,} of {cap.n_rows:,} rows "
            f"{cap.sampling}, and these are {batch_size:,} of {n_rows:,} rows {sampling}; "
            "make it with the same numbers."
        )
    if not cap.covers(required, _ROUNDING):
        more = "" if required.log_law is not None else ", draw more tables"
        raise ScenarioError(
            f"discrepancy allows for fewer differing rows than {type(scenario).__name__} promises "
            f"to hide: {cap.source or 'as given'}; the scenario: {required.source}. The promise "
            f"would not hold; leave discrepancy out{more}, or give a scenario that promises less."
        )
    return cap.believed(required)


def _sampler(random_state: Any, record: RunRecord | None) -> Sampler:
    sampler = sampler_for(random_state)
    if record is not None and not sampler.is_secure:
        # Going on with the same seed would draw the same noise again.
        seeds = np.abs(sampler.noise(4)).tolist()
        return SeededSampler(np.random.default_rng([record.n_steps, *seeds]))
    return sampler
