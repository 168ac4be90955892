"""The kind of plugin that this ring declares, Pufferfish scenarios, and its own budget."""

from __future__ import annotations

from collections.abc import Iterable

from pacsklearn.kernel.plugins.kinds import hookimpl, kind


@kind("scenario", "pacsklearn.srpp.scenarios.scenario:Scenario")
def pacsklearn_scenarios() -> Iterable[type | str]:
    """Say what is secret: secrets, pairs and priors, and the data sets of each.

    Returns
    -------
    iterable of subclasses of Scenario, or of their names
    """
    return (
        "pacsklearn.srpp.scenarios.prevalence_scenario:PrevalenceScenario",
        "pacsklearn.srpp.scenarios.differing_rows:DifferingRows",
        "pacsklearn.srpp.scenarios.group_scenario:GroupScenario",
    )


@hookimpl
def pacsklearn_budgets() -> Iterable[str]:
    """Return the budgets of this ring.

    The Renyi divergence, for secrets that are properties of the table.
    """
    return ("pacsklearn.srpp.parameters.renyi:Renyi",)


@hookimpl
def pacsklearn_events() -> Iterable[str]:
    """Return facts of sliced releases and of descents."""
    return (
        "pacsklearn.srpp.release.events:SlicedNoise",
        "pacsklearn.srpp.release.events:GradientSteps",
    )


@hookimpl
def pacsklearn_guarantees() -> Iterable[str]:
    """Return the guarantees of releases that are sliced."""
    return ("pacsklearn.srpp.release.pufferfish_guarantee:PufferfishGuarantee",)
