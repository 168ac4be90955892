"""What :class:`~pacsklearn.PACPrivate` learns of a table, and by which arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacsklearn._sklearn_compat import features_of
from pacsklearn.estimators.opening import Opening
from pacsklearn.estimators.released_parameters import Parameters, learned_of
from pacsklearn.kernel.outputs.candidates import Design, FitOptions, Fits, subset_seed
from pacsklearn.kernel.release.parameters import ParameterPlan
from pacsklearn.kernel.secret.space import Space
from pacsklearn.sampled.sampled_subsets import LISTED

_ONLY = {
    "release": ("auto", "parameters"),
    "tune": (None,),
    "stabilize": (None, False),
    "debug": (False,),
    "secret_space": (LISTED,),
}


def table_release(
    model: Any,
    opening: Opening,
    spaces: type[Space],
    table: Any,
    y: Any,
    groups: Any,
    fit_params: Mapping[str, Any],
) -> dict[str, Any]:
    """Release an estimator's parameters; the attributes of the fitted model.

    ``spaces`` is the kind of secret space that claims the table.

    Raises
    ------
    ValueError
        When the model asks for what needs rows in memory.
    """
    for name, possible in _ONLY.items():
        given = getattr(model, name)
        if not isinstance(given, (str, bool, type(None))) or given not in possible:
            raise ValueError(
                f"{name} must be {possible[0]!r} for a {type(table).__name__}, got {given!r}."
            )
    kind = Parameters.of(model)
    kind.refuse_others(model)
    seed = subset_seed(model.subset_seed, model.random_state)
    design = Design.of(model, groups, seed)
    options = FitOptions(fit_params, model.n_jobs, model.verbose, model.fast_fit)
    space = spaces.over(table, y, design)
    procedure = opening.procedure(space, table)
    plan = ParameterPlan.of(
        model.estimator,
        lambda: space.outputs(Fits(model.estimator, table, y, options)),
        procedure.check(None),
        kind.choices(model.estimator),
    )
    release = procedure.release(plan, certify=kind.certify)[0]
    methods = plan.outputs.canonicalizer.methods
    return {**features_of(plan.outputs.X), "_subset_seed": seed, **learned_of(release, methods)}
