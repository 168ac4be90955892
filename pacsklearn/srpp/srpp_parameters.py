"""Checks of SRPPPrivate's parameters, and what they ask for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from numbers import Integral, Real
from typing import Any, Final

import numpy as np
from sklearn.base import is_classifier

from pacsklearn._sklearn_compat import Interval, StrOptions, check_parameters
from pacsklearn.exceptions import BudgetError, ScenarioError
from pacsklearn.kernel.outputs.candidates import checked_rows
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.srpp.laws.slice_profile import SliceProfile
from pacsklearn.srpp.laws.sliced_law import AGGREGATIONS
from pacsklearn.srpp.release.release import CONFIDENCE, SlicedOptions, StatedRows
from pacsklearn.srpp.release.renyi_unit import LARGEST_EPSILON, LARGEST_ORDER
from pacsklearn.srpp.release.world_outputs import FunctionQuery, ModelQuery, Query
from pacsklearn.srpp.scenarios.checks import stated_column
from pacsklearn.srpp.scenarios.scenario import Scenario, SecretColumn

_INSIDE = Interval(Real, 0, 1, closed="neither")

CONSTRAINTS: Final[dict[str, list[Any]]] = {
    "allow_exact": ["boolean"],
    "aggregation": [StrOptions(set(AGGREGATIONS))],
    "noise": [StrOptions({"isotropic", "anisotropic", "worst-case"})],
    "order": [Interval(Real, 1, LARGEST_ORDER, closed="right")],
    "delta": [_INSIDE],
    "confidence": [None, _INSIDE],
    "n_slices": [Interval(Integral, 1, None, closed="left")],
    "slice_seed": [Interval(Integral, 0, None, closed="left")],
}
"""Of SRPPPrivate's plain parameters."""


def is_function(estimator: Any) -> bool:
    """Whether a plain function was wrapped, not an estimator."""
    return callable(estimator) and not hasattr(estimator, "fit")


def sliced_options(model: Any) -> SlicedOptions:
    """Options of a release, from an SRPPPrivate whose parameters are checked here."""
    if isinstance(model.estimator, type) or not (
        is_function(model.estimator) or hasattr(model.estimator, "get_params")
    ):
        kind = model.estimator if isinstance(model.estimator, type) else type(model.estimator)
        raise TypeError(
            "estimator must be a scikit-learn estimator or a function of (X, y), got "
            f"{'the class' if isinstance(model.estimator, type) else 'an object of type'} "
            f"{kind.__name__}."
        )
    check_parameters(model)
    if model.noise == "anisotropic" and model.aggregation == "full":
        raise ValueError(
            "noise='anisotropic' is calibrated along slices; use aggregation='average' or "
            "'joint', or noise='isotropic'."
        )
    named = isinstance(model.slices, str) and model.slices in ("uniform", "orthogonal")
    if not named and not isinstance(model.slices, SliceProfile):
        raise ValueError(
            "slices must be 'uniform', 'orthogonal' or a SliceProfile, got an object of type "
            f"{type(model.slices).__name__}."
            if not isinstance(model.slices, str)
            else f"slices must be 'uniform', 'orthogonal' or a SliceProfile, got {model.slices!r}."
        )
    if not named and (model.n_slices, model.slice_seed) != (200, 0):
        raise ValueError(
            "n_slices and slice_seed are for slices='uniform' or 'orthogonal', and the directions "
            "of a SliceProfile are given: they would be ignored. Leave them out."
        )
    if is_function(model.estimator) and not (
        isinstance(model.canonicalizer, str) and model.canonicalizer == "auto"
    ):
        raise ValueError(
            "canonicalizer is for models, and a function's numbers are released as they are: it "
            "would be ignored. Leave it out."
        )
    return SlicedOptions(
        epsilon=checked_epsilon(model.epsilon),
        order=float(model.order),
        aggregation=model.aggregation,
        noise=model.noise,
        profile=partial(_profile, model),
        delta=float(model.delta),
        metric=model.metric,
        confidence=CONFIDENCE if model.confidence is None else float(model.confidence),
        allow_exact=model.allow_exact,
    )


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
    """What an SRPPPrivate computes on every data set, and its rows, checked."""
    given = y
    if is_function(model.estimator):
        query: Query = FunctionQuery(model.estimator)
        X, y = (
            each if each is None or hasattr(each, "shape") else np.asarray(each) for each in (X, y)
        )
    else:
        chosen = registry().canonicalizer(model.canonicalizer, model.estimator)
        X, y = checked_rows(model.estimator, X, y, fit_params)
        query = ModelQuery(model.estimator, chosen)
    column = _secret_column(model, scenario, X, y, given, secret)
    return query, StatedRows(X, y, column, realized, model.secret_name)


def _secret_column(
    model: Any, scenario: Scenario, X: Any, y: Any, given: Any, secret: Any
) -> SecretColumn | None:
    """Column that the secret is about: the one given, or a classifier's labels."""
    if not scenario.redrawn:
        if secret is not None:
            raise ScenarioError(
                f"{type(scenario).__name__} takes no secret here: it brings the rows that the "
                "secret is about, and never looks at the table."
            )
        return None
    if secret is None:
        if y is not None and not is_function(model.estimator) and is_classifier(model.estimator):
            return SecretColumn(np.asarray(y), "y")
        if model.scenario is None:
            raise ScenarioError(
                "What is secret? Call fit(X, y, secret=column), or give a scenario; only "
                "classifiers have a default, how frequent their labels are."
            )
        return None
    return stated_column(
        secret,
        y,
        given,
        getattr(X, "columns", None),
        lambda: SecretColumn(np.asarray(X[secret]), secret),
    )


def checked_epsilon(epsilon: Any) -> float:
    """Positive, finite epsilon that the lattice can bear."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, Real):
        raise BudgetError(
            f"epsilon must be a positive number, got {epsilon!r} of type {type(epsilon).__name__}."
        )
    value = float(epsilon)
    # Beyond it nothing is hidden, and the arithmetic of noise so small overflows.
    if not 1e-9 <= value <= LARGEST_EPSILON:
        raise BudgetError(
            f"epsilon must be a number of at least 1e-9 and at most {LARGEST_EPSILON:g}, got "
            f"{epsilon!r}; give for instance epsilon=1.0."
        )
    return value


def _profile(model: Any, dimension: int) -> SliceProfile:
    if not isinstance(model.slices, SliceProfile):
        make = getattr(SliceProfile, model.slices)
        return make(dimension, n_slices=model.n_slices, seed=model.slice_seed)
    if model.slices.dimension != dimension:
        raise ValueError(
            f"slices are directions in {model.slices.dimension} dimensions, and {dimension} "
            "numbers are released; give directions of that length."
        )
    return model.slices
