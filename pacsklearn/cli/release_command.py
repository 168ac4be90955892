"""``pacsklearn release``: rows in, private model and statement out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pacsklearn.cli import options
from pacsklearn.cli.charged_ledger import charged_ledger, ledger_beside
from pacsklearn.cli.console import guarded, note, say
from pacsklearn.cli.publication import publication


@guarded
def release(
    data: options.Data,
    *,
    estimator: options.OptionalEstimatorName = None,
    auto: Annotated[
        bool, typer.Option("--auto", help="Choose the model from a short list; no --estimator.")
    ] = False,
    regression: Annotated[
        bool, typer.Option("--regression", help="With --auto: the target is a number.")
    ] = False,
    constant: Annotated[
        float | None, typer.Option(help="With --regression: public answer if nothing beats it.")
    ] = None,
    output: Annotated[Path, typer.Option(help="Where the model goes; a bundle with --key.")],
    target: options.Target = None,
    groups: options.Groups = None,
    identifier: options.Identifier = None,
    drop: options.Drop = None,
    schema: options.SchemaFile = None,
    params: options.Params = None,
    nats: options.Nats = None,
    membership: options.Membership = None,
    identification: options.Identification = None,
    k_of_n: options.KOfN = None,
    budget: options.OtherBudget = None,
    noise: Annotated[str, typer.Option(help="Noise backend.")] = "auto",
    subsets: options.Subsets = 128,
    rate: options.Rate = 0.5,
    subset_seed: Annotated[
        int | None, typer.Option(help="Public seed of the subsets; secret when not given.")
    ] = None,
    allow_exact: options.AllowExact = False,
    ledger: options.ChargedLedger = None,
    dataset: options.ChargedDataset = None,
    user: options.User = None,
    project: options.Project = None,
    statement: options.Statement = None,
    key: options.SigningKey = None,
    about: options.About = None,
    jobs: options.Jobs = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Release a private model: fit on a secret half of the rows, add noise, write it down."""
    from joblib import parallel_config

    from pacsklearn.cli.mixed_columns import texts_of
    from pacsklearn.cli.recipe import (
        auto_model,
        chosen_recipe,
        model_of,
        table_of,
        with_columns,
        words_of_columns,
    )
    from pacsklearn.kernel.release.rehearsal import rehearsed
    from pacsklearn.plots.report import privacy_report
    from pacsklearn.tabular.schema.schema import Schema

    if (estimator is None) != auto:
        raise ValueError("Give either --estimator, or --auto to have the model chosen.")
    if (regression or constant is not None) and not (auto and regression):
        raise ValueError("--regression goes with --auto, and --constant with both.")
    if auto and (params is not None or noise != "auto" or allow_exact):
        raise ValueError("--auto chooses the model: leave --params, --noise and --allow-exact out.")
    recipe: dict[str, Any] = {
        "estimator": estimator,
        "params": params,
        "budget": options.stated_budget(
            allow_exact=allow_exact,
            nats=nats,
            membership=membership,
            identification=identification,
            k_of_n=k_of_n,
            budget=budget,
        ),
        "noise": noise,
        "release": "parameters",
        "secret": {"n": subsets, "rate": rate, "seed": subset_seed},
        "target": target,
        "groups": groups,
        "id": identifier,
        "drop": options.listed(drop),
        "schema": None if schema is None else Schema.read(schema).to_table_schema(),
    }
    account = charged_ledger(ledger, dataset, user, project)
    if auto:
        model: Any = auto_model(recipe, regression=regression, constant=constant, ledger=account)
        table = table_of(recipe, data)
        if schema is None and (texts := texts_of(table.X)):
            raise ValueError(
                f"--auto needs --schema where columns are no numbers: {', '.join(texts)}. "
                f"'pacsklearn schema {data.name}' drafts a codebook; or name an --estimator."
            )
    else:
        model_of(recipe)  # what is wrong with it is said before the rows are read
        table = table_of(recipe, data)
        recipe = with_columns(recipe, table.X)
        model = model_of(recipe, ledger=account)
        if words := words_of_columns(recipe):
            note(words)
    given = {} if table.groups is None else {"groups": table.groups}
    with (
        publication(output, statement, force=force, key=key, about=about) as place,
        rehearsed(place.content),
    ):
        if ledger is None:
            model.set_params(ledger=ledger_beside(data, output))
        with parallel_config(n_jobs=jobs):
            model.fit(table.X, table.y, **given)
        document = {
            **privacy_report(model).statement,
            "recipe": chosen_recipe(recipe, model) if auto else recipe,
            "model": place.model.name,
        }
        place.write(model.released_estimator_, document)
    say(
        document,
        f"{model.guarantee_}\n\nmodel      {place.model}\nstatement  {place.statement}",
        as_json=as_json,
    )
