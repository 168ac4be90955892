"""What :class:`~pacsklearn.PACPrivate` learns of a table, and by which arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pacsklearn._sklearn_compat import features_of
from pacsklearn.estimators.alternatives import options_of
from pacsklearn.estimators.open_fit import opening_of
from pacsklearn.estimators.release_kind import stated_release
from pacsklearn.estimators.released_parameters import Parameters, learned_of
from pacsklearn.estimators.subsets import listed_design
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.release.parameters import ParameterPlan
from pacsklearn.kernel.secret.space import TableSpace
from pacsklearn.universe.codebook_reader import refuse_published
from pacsklearn.universe.design import Fits

if TYPE_CHECKING:
    from pacsklearn.estimators.pac_private import PACPrivate


def table_release(
    model: PACPrivate,
    budget: Budget,
    spaces: type[TableSpace],
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
    kind = stated_release(model.release) or Parameters()
    if kind.is_black_box or options_of(model.estimator).is_choice:
        raise ValueError(
            f"release must be Parameters() of one estimator for a {type(table).__name__}, got "
            f"{type(kind).__name__} of {type(model.estimator).__name__}."
        )
    if model.schema is not None:
        raise ValueError(
            f"schema must be None for a {type(table).__name__}, which is read in passes: begin the "
            "estimator with SchemaEncoder(schema)."
        )
    refuse_published(model.estimator, f"a {type(table).__name__} is read in passes")
    kind.check(model)
    design = listed_design(model.secret, groups, model.random_state, f"a {type(table).__name__}")
    options = FitOptions(fit_params, model.n_jobs, model.verbose)
    space = spaces.over(table, y, design)
    procedure = opening_of(model, budget).procedure(space, table)
    plan = ParameterPlan.of(
        model.estimator,
        lambda: space.outputs(Fits(model.estimator, table, y, options)),
        procedure.check(None),
        kind.choices(model.noise),
    )
    release = procedure.release(plan, certify=kind.certify)[0]
    methods = plan.outputs.form.canonicalizer.methods
    return {
        **features_of(plan.outputs.X),
        "_subset_seed": design.seed,
        "release_": kind,
        **learned_of(release, methods),
    }
