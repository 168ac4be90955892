"""How a release was made, as public facts in its statement: enough to make it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pacsklearn.cli.mixed_columns import mixed_columns
from pacsklearn.cli.named_estimator import name_of, named_estimator
from pacsklearn.cli.options import Columns, json_of, listed
from pacsklearn.cli.table import Table, read_table
from pacsklearn.estimators.codebook import FROM_TABLE
from pacsklearn.estimators.pac_private import PACPrivate
from pacsklearn.estimators.released_parameters import Parameters
from pacsklearn.estimators.subsets import Subsets
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.plots.privacy_statement import SCHEMA
from pacsklearn.priors import Expected
from pacsklearn.srpp.srpp_private import SRPPPrivate
from pacsklearn.tabular.choosing.auto_private import AutoPrivateClassifier, AutoPrivateRegressor
from pacsklearn.tabular.schema.schema import Schema, read_document
from pacsklearn.tabular.schema.template import is_name_of_identifier

_ROLES = frozenset({"target", "groups", "id"})
_RELEASES: Mapping[str, Any] = {"auto": "auto", "parameters": Parameters()}
_KINDS: Final = {
    "estimator": str,
    "params": str | None,
    "budget": dict,
    "secret": dict,
    "drop": list,
}
"""What the parts of a recipe are in JSON, where they are not looked at by name."""

SLICED: Final = "sliced"
"""Release of a recipe whose secret is a property of the table."""

CONSTANT: Final = "a constant"
"""Estimator of a recipe by which nothing was fitted."""


def model_of(recipe: dict[str, Any], **options: Any) -> Any:
    """Return an unfitted estimator of a recipe.

    ``options`` add what is no part of the mechanism.
    """
    try:
        estimator = named_estimator(
            recipe["estimator"], recipe["params"], schema_of(recipe), recipe.get("columns")
        )
        budget, noise = budget_of(recipe), recipe["noise"]
        if recipe["release"] == SLICED:
            shape = {} if noise == "auto" else {"noise": noise}
            return SRPPPrivate(estimator, budget, **shape, **options)
        return PACPrivate(
            estimator,
            budget=budget,
            release=_RELEASES[recipe["release"]],
            secret=Subsets(**recipe["secret"]),
            noise=noise,
            **options,
        )
    except KeyError as error:
        raise ValueError(f"The statement's recipe has no {error}; it was altered.") from None


def fit_options(recipe: dict[str, Any], table: Table) -> dict[str, Any]:
    """Return what ``fit`` of a recipe's model takes beside rows and targets."""
    given = {"groups": table.groups, "secret": recipe.get("about")}
    return {name: value for name, value in given.items() if value is not None}


def auto_model(
    recipe: dict[str, Any], *, regression: bool, constant: float | None, **options: Any
) -> Any:
    """Return an unfitted estimator that chooses its model; as :func:`model_of`."""
    if constant == 0:
        raise ValueError(
            "--constant 0 says nothing about how far targets lie from it: add a public number to "
            "the target, and give that."
        )
    kind = AutoPrivateRegressor if regression else AutoPrivateClassifier
    return kind(
        budget_of(recipe),
        schema=schema_of(recipe),
        prior=None if constant is None else Expected(constant),
        secret=Subsets(**recipe["secret"]),
        **options,
    )


def columns_of(columns: Columns) -> dict[str, Any]:
    """Return what a recipe says of columns; a codebook says what no option does.

    Raises
    ------
    ValueError
    """
    codebook, roles = _codebook_of(columns.schema)
    return {
        "target": columns.target or roles.get("target"),
        "groups": columns.groups or roles.get("groups"),
        "id": columns.identifier or roles.get("id"),
        "drop": listed(columns.drop),
        "schema": codebook,
    }


def _codebook_of(path: Path | None) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """Return the codebook in a file, and which columns it says are target, groups and id.

    Raises
    ------
    ValueError
    """
    if path is None or str(path) == FROM_TABLE:
        # Of no column until the table is read: what steps read one is known before.
        return None if path is None else Schema(()).to_table_schema(), {}
    document = read_document(path)
    schema = Schema.from_table_schema(document)
    roles = document.get("pacsklearn", {})
    is_object = isinstance(roles, Mapping)
    unknown = sorted(roles.keys() - _ROLES) if is_object else ["no object"]
    unknown = unknown or [name for name in roles.values() if not isinstance(name, str | None)]
    if unknown:
        raise ValueError(
            f"{path.name}: pacsklearn must say which columns are {', '.join(sorted(_ROLES))}, got "
            f"{unknown[0]!r}."
        )
    return schema.to_table_schema(), dict(roles)


def with_codebook(recipe: dict[str, Any], path: Path | None, table: Table) -> dict[str, Any]:
    """Return recipe with a codebook of the features alone, looked up in the table on request."""
    if path is None:
        return recipe
    if str(path) == FROM_TABLE:
        schema = Schema.from_table(table.X, table.groups)
    else:
        known = schema_of(recipe)
        assert known is not None
        used = (recipe["target"], recipe["groups"], recipe["id"], *recipe["drop"])
        schema = known.drop(*(name for name in used if name in known))
    return {**recipe, "schema": schema.to_table_schema()}


def budget_of(recipe: dict[str, Any]) -> Budget:
    """Return the budget of a recipe."""
    name, *stated = recipe["budget"].items()
    made: Budget = registry().load("budget", name[1])(**dict(stated))
    return made


def chosen_recipe(recipe: dict[str, Any], model: Any) -> dict[str, Any]:
    """Return the recipe of what was chosen, with which it can be released, and audited, again.

    Which option that was is public, like every hyper-parameter of a released model.
    """
    if model.best_estimator_ is None:
        return {**recipe, "estimator": CONSTANT}
    text, params = name_of(model.best_estimator_)
    return {**recipe, "estimator": text, "params": params}


def with_columns(recipe: dict[str, Any], X: Any) -> dict[str, Any]:
    """Return recipe, saying how columns that are no numbers are encoded where no codebook does."""
    if recipe.get("schema") is not None:
        return recipe
    columns = mixed_columns(X, named_estimator(recipe["estimator"]))
    empty = [str(name) for name in X.columns if X[name].isna().all()]
    if empty and columns is not None and columns["imputed"]:
        raise ValueError(f"No row has a value of {', '.join(empty)}: --drop {','.join(empty)!r}.")
    return recipe if columns is None else {**recipe, "columns": columns}


def words_of_columns(recipe: dict[str, Any], X: Any) -> Iterator[str]:
    """Yield what a person should know about columns that no codebook describes."""
    if recipe.get("schema") is not None:
        return
    columns = recipe.get("columns")
    if columns is not None:
        parts = []
        if columns["hashed"]:
            parts.append(f"the words of {', '.join(columns['hashed'])} are hashed")
        if columns["imputed"]:
            parts.append("missing numbers become the column's mean")
        names = [name for name in columns["hashed"] if X[name].astype(str).is_unique]
        unlike = (
            f" No two rows share a value of {', '.join(names)}: what names rows is left out by "
            "--id."
        )
        yield (
            f"There is no --schema: {' and '.join(parts)}, and numbers are scaled. A public "
            "codebook costs less noise and usually gives a better model: pacsklearn schema drafts "
            f"one.{unlike * bool(names)}"
        )
    names = [str(name) for name in X.columns if is_name_of_identifier(str(name))]
    if names:
        yield (
            f"By their names these look like identifiers, and are used as features: "
            f"{', '.join(names)}. Give --groups where one names persons with several rows, who are "
            "then protected together; --id where it names rows; else --drop."
        )


def schema_of(recipe: dict[str, Any]) -> Schema | None:
    """Return the codebook of a recipe; older ones have none."""
    document = recipe.get("schema")
    return None if document is None else Schema.from_table_schema(document)


def table_of(recipe: dict[str, Any], path: Path) -> Table:
    """Return the rows of a file as a recipe reads them."""
    return read_table(
        path,
        recipe.get("target"),
        recipe.get("groups"),
        drop=recipe.get("drop") or (),
        identifier=recipe.get("id"),
    )


def read_statement(path: Path) -> dict[str, Any]:
    """Return the statement that ``pacsklearn release`` or a report wrote.

    Raises
    ------
    ValueError
        When the file is something else.
    """
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    statement = json_of(path)
    if not isinstance(statement, dict) or statement.get("schema") != SCHEMA:
        raise ValueError(f"{path.name} is no privacy statement ({SCHEMA}).")
    recipe = statement.get("recipe")
    stated: list[tuple[Any, str, Any]] = [
        (statement, "guarantee", dict),
        (statement, "title", str),
    ]
    stated += [(recipe, name, kind) for name, kind in _KINDS.items() if isinstance(recipe, dict)]
    for part, name, kind in stated:
        if not isinstance(part.get(name), kind):
            raise ValueError(f"{path.name} was altered: its {name} is not what was written there.")
    return statement
