"""``pacsklearn curve``: what a budget costs in utility."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from pacsklearn.cli import options
from pacsklearn.cli.console import Output, guarded


@guarded
def curve(
    data: options.Data,
    *,
    estimator: options.EstimatorName,
    columns: options.Columns,
    params: options.Params = None,
    limit: options.Limit,
    noise: Annotated[str, typer.Option(help="Backends, separated by commas.")] = "logdet",
    releases: Annotated[int, typer.Option(help="Simulated releases a point.")] = 100,
    scoring: Annotated[str | None, typer.Option(help="Scorer of scikit-learn.")] = None,
    design: options.Design,
    seed: Annotated[int, typer.Option(help="Public seed of split and simulation.")] = 0,
    results: options.Results,
    jobs: options.Jobs = None,
) -> Output:
    """Score released models at several budgets, separated by commas; for the curator's eyes."""
    from pacsklearn.cli import recipe as recipes
    from pacsklearn.cli.named_estimator import named_estimator
    from pacsklearn.estimators.subsets import Subsets
    from pacsklearn.plots.privacy_utility import PrivacyUtilityDisplay
    from pacsklearn.tabular.choosing.privacy_curve import privacy_utility_curve

    results.check()
    grid = limit.listed or options.Limit(nats="1/64,1/16,1/4,1").listed
    recipe = {"estimator": estimator, **recipes.columns_of(columns)}
    # What is wrong with it is said before the rows are read.
    named_estimator(estimator, params, recipes.schema_of(recipe))
    table = recipes.table_of(recipe, data)
    recipe = recipes.with_codebook(recipe, columns.schema, table)
    recipe = recipes.with_columns(recipe, table.X)
    result = privacy_utility_curve(
        named_estimator(estimator, params, recipes.schema_of(recipe), recipe.get("columns")),
        table.X,
        table.y,
        budgets=[recipes.budget_of({"budget": each}) for each in grid],
        noise=options.listed(noise),
        n_releases=releases,
        scoring=scoring,
        groups=table.groups,
        secret=Subsets(**design.stated),
        random_state=seed,
        n_jobs=jobs,
    )
    results.write(result, lambda: PrivacyUtilityDisplay.from_curve(result))
    return Output(json.loads(result.to_json()), str(result))
