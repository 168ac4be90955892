"""Checks of SRPPPrivate's parameters, and what they ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from pacsklearn.exceptions import ScenarioError
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.srpp.parameters.renyi import as_renyi
from pacsklearn.srpp.parameters.slices import Noise, Slices
from pacsklearn.srpp.parameters.stated import stated
from pacsklearn.srpp.release.calibrated_worlds import SlicedOptions, StatedRows
from pacsklearn.srpp.release.world_outputs import Query
from pacsklearn.srpp.scenarios.checks import check_unused, stated_column
from pacsklearn.srpp.scenarios.scenario import Scenario, SecretColumn
from pacsklearn.universe.frame import column_names
from pacsklearn.universe.row_rules import checked_rows


def is_function(estimator: Any) -> bool:
    """Return whether a plain function was wrapped, not an estimator."""
    return callable(estimator) and not hasattr(estimator, "fit")


def sliced_options(model: Any) -> SlicedOptions:
    """Return the options of a release, from an SRPPPrivate whose parameters are checked here."""
    if isinstance(model.estimator, type) or not (
        is_function(model.estimator) or hasattr(model.estimator, "get_params")
    ):
        kind = model.estimator if isinstance(model.estimator, type) else type(model.estimator)
        raise TypeError(
            "estimator must be a scikit-learn estimator or a function of (X, y), got "
            f"{'the class' if isinstance(model.estimator, type) else 'an object of type'} "
            f"{kind.__name__}."
        )
    budget, slices = as_renyi(model.budget), stated(Slices, model.slices, "slices")
    options = SlicedOptions(budget, slices, stated(Noise, model.noise, "noise"))
    options.slices.check()
    if options.noise.shape == "anisotropic" and options.slices.aggregation == "full":
        raise ValueError(
            "noise='anisotropic' is calibrated along slices; give Slices(aggregation='average') or "
            "'joint', or noise='isotropic'."
        )
    if is_function(model.estimator) and model.canonicalizer != "auto":
        raise ValueError(
            "canonicalizer is for models, and a function's numbers are released as they are: it "
            "would be ignored. Leave it out."
        )
    return options


def sliced_query(
    model: Any,
    scenario: Scenario,
    X: Any,
    y: Any,
    fit_params: Mapping[str, Any],
    *,
    secret: Any,
    realized: Any = None,
) -> tuple[Query, StatedRows]:
    """Return what an SRPPPrivate computes on every data set, and its rows, checked."""
    if is_function(model.estimator) and not np.shape(X):
        raise TypeError(f"X must be a table with rows, got an object of type {type(X).__name__}.")
    given, names = y, column_names(X)
    if is_function(model.estimator):
        query = Query.of_function(model.estimator)
        X, y = (
            each if each is None or hasattr(each, "shape") else np.asarray(each) for each in (X, y)
        )
    else:
        chosen = registry().canonicalizer(model.canonicalizer, model.estimator)
        X, y = checked_rows(model.estimator, X, y, fit_params)
        query = Query.of_model(model.estimator, chosen)
    column = _secret_column(model, scenario, (X, y, given, names), secret)
    check_unused(scenario, column, realized)
    if y is not None and not scenario.redrawn and _is_unlike(model.estimator, y, scenario):
        raise ScenarioError(
            "The tables that the scenario draws lack labels of y, or have texts where y has "
            "numbers: the model would answer with theirs, whatever your table holds. Give the "
            "reference, or the simulator, the labels of y."
        )
    return query, StatedRows(X, y, column, realized, model.secret_name)


def _is_unlike(estimator: Any, y: Any, scenario: Scenario) -> bool:
    """Return whether the tables that a scenario draws lack what the estimator learns from y."""
    if scenario.reference is None:
        public = scenario.worlds(None, None, None).worlds[0].data(None, None)[1]
    else:
        public = scenario.reference[1]
    labels = not is_function(estimator) and is_classifier(estimator)
    if public is None:
        return labels or (not is_function(estimator) and is_regressor(estimator))
    ours, theirs = np.ravel(y).tolist(), np.ravel(public).tolist()
    if not labels:
        return isinstance(ours[0], str) != isinstance(theirs[0], str)
    return not set(ours) <= set(theirs)


def _secret_column(
    model: Any, scenario: Scenario, rows: tuple[Any, Any, Any, list[str] | None], secret: Any
) -> SecretColumn | None:
    """Return the column that the secret is about: the one given, or a classifier's labels."""
    y = rows[1]
    if secret is None:
        if not scenario.redrawn:
            return None
        if y is not None and not is_function(model.estimator) and is_classifier(model.estimator):
            return stated_column(None, *rows)
        if model.scenario is None:
            raise ScenarioError(
                "What is secret? Call fit(X, y, secret=column), or give a scenario; only "
                "classifiers have a default, how frequent their labels are."
            )
        return None
    return stated_column(secret, *rows)
