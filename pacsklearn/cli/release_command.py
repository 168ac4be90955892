"""``pacsklearn release``: rows in, private model and statement out."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pacsklearn.cli import options
from pacsklearn.cli.charged_ledger import charged_ledger, ledger_beside
from pacsklearn.cli.console import Output, guarded, note
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
        str | None, typer.Option(help="With --regression: public answer if nothing beats it.")
    ] = None,
    params: options.Params = None,
    files: options.Files,
    columns: options.Columns,
    limit: options.Limit,
    secret: Annotated[
        str | None,
        typer.Option(
            help="With --renyi: column of whose values the share in the training set is hidden; "
            "the target by default."
        ),
    ] = None,
    noise: Annotated[str, typer.Option(help="Noise backend.")] = "auto",
    design: options.Design,
    charge: options.Charge,
    jobs: options.Jobs = None,
) -> Output:
    """Release a private model: fit on a secret subset of the rows, add noise, write the model.

    Under 1/16 nats where no budget is given.
    """
    from joblib import parallel_config
    from sklearn.utils.multiclass import type_of_target

    from pacsklearn._rehearsal import rehearsed
    from pacsklearn._validation import check_jobs
    from pacsklearn.cli import recipe as recipes
    from pacsklearn.exceptions import NoCanonicalizerError
    from pacsklearn.plots.report import privacy_report

    check_jobs(jobs, 0)
    chooses = estimator is None
    modelled = params is not None or noise != "auto" or limit.allow_exact
    _check_choice(chooses=chooses, modelled=modelled, regression=regression, constant=constant)
    budget = limit.stated
    sliced = budget["name"] == "renyi"
    _check_secret(columns, sliced=sliced, chooses=chooses, secret=secret, design=design)
    read = recipes.columns_of(columns)
    recipe: dict[str, Any] = {
        "estimator": estimator,
        "params": params,
        "budget": budget,
        "noise": noise,
        "release": recipes.SLICED if sliced else "parameters",
        "secret": design.stated,
        **read,
        # The target is no column of X, and what is secret by default.
        **({"about": None if secret == read["target"] else secret} if sliced else {}),
    }
    account = charged_ledger(charge)
    if not chooses:
        recipes.model_of(recipe)  # what is wrong with it is said before the rows are read
    elif read["target"] is None:
        raise ValueError(
            "A model is chosen for a target: name its column by --target, or in the codebook "
            '("pacsklearn": {"target": ...}). Or name an --estimator that needs none.'
        )
    table = recipes.table_of(recipe, data)
    recipe = recipes.with_codebook(recipe, columns.schema, table)
    if chooses:
        if not regression and type_of_target(table.y) == "continuous":
            raise ValueError(
                f"--target: {read['target']} holds numbers that are no classes; to choose among "
                "models of a number give --regression and --constant."
            )
        level = None if constant is None else options.number(constant, "--constant")
        model: Any = recipes.auto_model(
            recipe, regression=regression, constant=level, ledger=account
        )
    else:
        recipe = recipes.with_columns(recipe, table.X)
        model = recipes.model_of(recipe, ledger=account)
    for words in recipes.words_of_columns(recipe, table.X):
        note(words)
    if sliced and account is not None:
        model.set_params(secret_name=f"{charge.dataset or 'default'}: {secret or read['target']}")
    with publication(files) as place, rehearsed(place.content):
        if charge.ledger is None and not sliced:  # charges of another unit add up to nothing
            model.set_params(ledger=ledger_beside(data, place.model, place.statement))
        try:
            with parallel_config(n_jobs=jobs):
                model.fit(table.X, table.y, **recipes.fit_options(recipe, table))
        except NoCanonicalizerError as error:
            # What it advises in Python has no option here.
            raise NoCanonicalizerError(
                error.why,
                "Name another estimator (`pacsklearn plugins` lists what can be released), or "
                "publish a student that learns its labels: `pacsklearn distill`.",
            ) from None
        document = {
            **privacy_report(model).statement,
            "recipe": recipes.chosen_recipe(recipe, model) if chooses else recipe,
            "model": place.model.name,
        }
        place.write(model.released_estimator_, document)
    if chooses:
        # A function of all rows: on the curator's terminal, and in no file.
        note(f"For the curator alone: {model.verdict_.why}.")
    file = f"{place.model}{', a verified bundle' * (files.key is not None)}"
    text = f"{model.guarantee_}\n\nmodel      {file}\nstatement  {place.statement}"
    return Output(document, text)


def _check_choice(*, chooses: bool, modelled: bool, regression: bool, constant: str | None) -> None:
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


def _check_secret(
    columns: options.Columns,
    *,
    sliced: bool,
    chooses: bool,
    secret: str | None,
    design: options.Design,
) -> None:
    """Refuse options of subsets where a property is the secret, and the other way round.

    Raises
    ------
    ValueError
    """
    if secret is not None and not sliced:
        raise ValueError(
            "--secret names a column whose share in the training set --renyi hides; other budgets "
            "hide which rows were used."
        )
    if sliced and (chooses or columns.groups is not None or design != options.Design()):
        raise ValueError(
            "--renyi hides a share in the training set, not which rows were used: name an "
            "--estimator, and leave --groups, --subsets, --rate, --blocks and --subset-seed out."
        )
