"""``pacsklearn distill``: a student of private answers, to be published."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pacsklearn.cli import options
from pacsklearn.cli.charged_ledger import charged_ledger, ledger_beside
from pacsklearn.cli.console import Output, guarded, note
from pacsklearn.cli.publication import publication


@guarded
def distill(
    data: options.Data,
    public: Annotated[Path, typer.Argument(help="CSV or Parquet file with public rows.")],
    *,
    estimator: options.EstimatorName,
    student: Annotated[str, typer.Option(help="Qualified name of what learns the answers.")],
    files: options.Files,
    columns: options.Columns,
    params: options.Params = None,
    student_params: options.StudentParams = None,
    limit: options.Limit,
    answers: Annotated[
        int | None, typer.Option(help="Contested answers the budget lasts for.")
    ] = None,
    alpha: Annotated[str, typer.Option(help="Chance of keeping a wrong label.")] = "0.01",
    design: options.Design,
    charge: options.Charge,
    jobs: options.Jobs = None,
) -> Output:
    """Label public rows privately with a black box, and publish a model that learnt the labels.

    Under 1/16 nats where no budget is given.
    """
    from pacsklearn._rehearsal import rehearsed
    from pacsklearn.cli import recipe as recipes
    from pacsklearn.cli.named_estimator import named_estimator
    from pacsklearn.cli.table import read_table
    from pacsklearn.estimators.pac_private import PACPrivate
    from pacsklearn.estimators.released_answers import Answers
    from pacsklearn.estimators.subsets import Subsets
    from pacsklearn.plots.report import privacy_report
    from pacsklearn.tabular.students.distillation import distill as distilled
    from pacsklearn.tabular.students.teaching import check_alpha

    recipe, level = recipes.columns_of(columns), options.number(alpha, "--alpha")
    check_alpha(level)
    if recipe["target"] is None:
        raise ValueError("What is taught? Name the column with the targets by --target.")
    for name, stated in ((estimator, params), (student, student_params)):
        named_estimator(name, stated, recipes.schema_of(recipe))  # said before the rows are read
    table, queries = recipes.table_of(recipe, data), read_table(public).X
    recipe = recipes.with_codebook(recipe, columns.schema, table)
    teacher = named_estimator(estimator, params, recipes.schema_of(recipe))
    learner = named_estimator(student, student_params, recipes.schema_of(recipe))
    if recipe["target"] in queries:
        note(f"Warning: the public rows' column {recipe['target']!r} is not used.")
    spare = [recipe["target"], recipe["groups"], recipe["id"], *recipe["drop"]]
    queries = queries.drop(columns=[name for name in spare if name in queries])
    source = PACPrivate(
        teacher,
        budget=recipes.budget_of({"budget": limit.stated}),
        release=Answers(len(queries) if answers is None else answers),
        secret=Subsets(**design.stated),
        ledger=charged_ledger(charge),
        n_jobs=jobs,
    )
    given = {} if table.groups is None else {"groups": table.groups}
    title = f"{type(learner).__name__}, taught by private answers of {type(teacher).__name__}"
    with publication(files) as place, rehearsed(place.content):
        if charge.ledger is None:
            source.set_params(ledger=ledger_beside(data, place.model, place.statement))
        source.fit(table.X, table.y, **given)
        trained = distilled(source, learner, queries, alpha=level)
        document = {
            **privacy_report(trained, title=title).statement,
            "model": place.model.name,
            "n_public": trained.n_public,
            "n_kept": trained.n_kept,
        }
        place.write(trained.estimator, document)
    return Output(
        document,
        f"{trained.guarantee}\n\n{trained.n_kept} of {trained.n_public} public rows were kept\n"
        f"student    {place.model}\nstatement  {place.statement}",
    )
