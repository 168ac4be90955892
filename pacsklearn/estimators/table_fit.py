"""What :class:`~pacsklearn.PACPrivate` learns in passes over a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from pacsklearn.candidates.candidates import subset_seed
from pacsklearn.core.sampled_subsets import LISTED
from pacsklearn.estimators.release_arguments import refuse_ignored
from pacsklearn.estimators.row_fit import CHOICES, SETTINGS, learned_of, named
from pacsklearn.exceptions import TableError
from pacsklearn.session.privacy_session import PrivacySession
from pacsklearn.tables.table import Table

_ONLY = {
    "release": ("auto", "parameters"),
    "tune": (None,),
    "stabilize": (None, False),
    "debug": (False,),
    "secret_space": (LISTED,),
}


def table_release(
    model: Any, table: Table, y: Any, groups: Any, fit_params: Mapping[str, Any]
) -> dict[str, Any]:
    """Release an estimator's parameters; the attributes of the fitted model.

    Raises
    ------
    TableError
        When the model asks for what needs rows in memory.
    """
    for name, possible in _ONLY.items():
        given = getattr(model, name)
        if not isinstance(given, (str, bool, type(None))) or given not in possible:
            raise TableError(f"{name} must be {possible[0]!r} for a Table, got {given!r}.")
    refuse_ignored(model, "parameters")
    seed = subset_seed(model.subset_seed, model.random_state)
    session = PrivacySession(
        table.on(model.engine),
        y,
        budget=model.budget,
        n_subsets=model.n_subsets,
        rate=model.rate,
        stratify=model.stratify,
        groups=groups,
        subset_seed=seed,
        **named(model, SETTINGS),
    )
    plan = session.prepare(model.estimator, fit_params=fit_params, **named(model, CHOICES))
    release = session.take(plan, certify=model.certify)
    session.close()
    features = BaseEstimator()
    validate_data(features, plan.outputs.X, skip_check_array=True)
    methods = plan.outputs.canonicalizer.methods
    return {**vars(features), "_subset_seed": seed, **learned_of(release, methods)}
