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
    regression: Annotated[
        bool, typer.Option("--regression", help="Choose among models of a target that is a number.")
    ] = False,
    constant: Annotated[
        float | None, typer.Option(help="With --regression: public answer if nothing beats it.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the model goes; a bundle with --key.")
    ],
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

    from pacsklearn.cli.recipe import (
        auto_model,
        chosen_recipe,
        codebook_of,
        model_of,
        table_of,
        with_codebook,
        with_columns,
        words_of_columns,
    )
    from pacsklearn.kernel.release.plan import rehearsed
    from pacsklearn.plots.report import privacy_report

    chooses = estimator is None
    modelled = params is not None or noise != "auto" or allow_exact
    _check_choice(chooses=chooses, modelled=modelled, regression=regression, constant=constant)
    codebook, roles = codebook_of(schema)
    target, groups, identifier = (
        stated or roles.get(role)
        for role, stated in (("target", target), ("groups", groups), ("id", identifier))
    )
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
        "schema": codebook,
    }
    account = charged_ledger(ledger, dataset, user, project)
    if not chooses:
        model_of(recipe)  # what is wrong with it is said before the rows are read
    elif target is None:
        raise ValueError(
            "A model is chosen for a target: name its column by --target, or in the codebook "
            '("pacsklearn": {"target": ...}). Or name an --estimator that needs none.'
        )
    table = table_of(recipe, data)
    recipe = with_codebook(recipe, schema, table)
    if chooses:
        model: Any = auto_model(recipe, regression=regression, constant=constant, ledger=account)
    else:
        recipe = with_columns(recipe, table.X)
        model = model_of(recipe, ledger=account, verbose=0 if as_json else 1)
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
            "recipe": chosen_recipe(recipe, model) if chooses else recipe,
            "model": place.model.name,
        }
        place.write(model.released_estimator_, document)
    if chooses:
        # A function of all rows: on the curator's terminal, and in no file.
        note(f"For the curator alone: {model.verdict_.why}.")
    file = f"{place.model}{', a verified bundle' * (key is not None)}"
    text = f"{model.guarantee_}\n\nmodel      {file}\nstatement  {place.statement}"
    say(document, text, as_json=as_json)


def _check_choice(
    *, chooses: bool, modelled: bool, regression: bool, constant: float | None
) -> None:
    """Refuse options of a model that is chosen where one is named, and the other way round.

    Raises
    ------
    ValueError
    """
    if regression and not chooses:
        raise ValueError("--regression chooses a model, and --estimator names one: give one.")
    if regression != (constant is not None):
        raise ValueError(
            "--regression goes with --constant, a number that targets are publicly expected to lie "
            "around: models are drawn toward it, and compared with it."
        )
    if chooses and modelled:
        raise ValueError(
            "Without --estimator the model is chosen: leave --params, --noise and --allow-exact "
            "out."
        )
