"""From a fitted sliced release to everything that was known before its draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.exceptions import NotFittedError

from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.srpp.laws.sliced_law import AGGREGATIONS
from pacsklearn.srpp.release.calibrated_worlds import CalibratedWorlds, calibrated_worlds
from pacsklearn.srpp.srpp_parameters import sliced_options, sliced_query
from pacsklearn.srpp.srpp_private import SRPPPrivate


def replay_sliced(
    model: SRPPPrivate,
    X: Any,
    y: Any = None,
    *,
    secret: Any = None,
    fit_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> CalibratedWorlds:
    """Return data sets, outputs and law of a fitted :class:`SRPPPrivate`; the draw is not repeated.

    Which secret is true is not asked for: the law does not depend on it.

    Parameters
    ----------
    model : SRPPPrivate
        Fitted.
    X, y, secret
        As given to its ``fit``.
    fit_params : mapping, optional
        As given to its ``fit``.
    n_jobs : int, optional
        Workers that compute the outputs; the model's own when not given.

    Returns
    -------
    CalibratedWorlds
        Secret material, for the curator alone.

    Raises
    ------
    NotFittedError
    ValueError
        When the rows do not give the guarantee that the model has.
    """
    if not model.__sklearn_is_fitted__():
        raise NotFittedError("An audit replays what was fitted: call fit on the model first.")
    named = "prevalence" if model.scenario is None else model.scenario
    scenario = registry().make("scenario", named)
    params = dict(fit_params or {})
    query, rows = sliced_query(model, scenario, X, y, params, secret=secret)
    fitting = FitOptions(params, model.n_jobs if n_jobs is None else n_jobs)
    calibrated = calibrated_worlds(query, scenario, rows, sliced_options(model), fitting)
    promised, replayed = model.guarantee_.costs, calibrated.law.costs
    # The calibrated cost is the budget whatever the rows are; the others are not.
    for view in (*AGGREGATIONS, "worst_slice"):
        here, there = float(getattr(replayed, view)), float(getattr(promised, view))
        if not abs(here - there) <= 1e-6 * max(here, there):
            raise ValueError(
                f"X, y and secret must be what the model was fitted on: its guarantee says "
                f"{there:.6g} of {view.replace('_', ' ')}, here it is {here:.6g}."
            )
    return calibrated
