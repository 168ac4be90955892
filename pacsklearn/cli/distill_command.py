"""``pacsklearn distill``: a student of private answers, to be published."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pacsklearn.cli import options
from pacsklearn.cli.charged_ledger import charged_ledger, ledger_beside
from pacsklearn.cli.console import guarded, note, say
from pacsklearn.cli.publication import publication


@guarded
def distill(
    data: options.Data,
    public: Annotated[Path, typer.Argument(help="CSV or Parquet file with public rows.")],
    *,
    estimator: options.EstimatorName,
    student: Annotated[str, typer.Option(help="Qualified name of what learns the answers.")],
    target: Annotated[str, typer.Option(help="Column with the targets.")],
    output: Annotated[Path, typer.Option(help="Where the student goes; a bundle with --key.")],
    groups: options.Groups = None,
    params: options.Params = None,
    student_params: options.Params = None,
    nats: options.Nats = None,
    answers: Annotated[
        int | None, typer.Option(help="Contested answers the budget lasts for.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Chance of keeping a wrong label.")] = 0.01,
    subsets: options.Subsets = 128,
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
    """Label public rows privately with a black box, and publish a model that learnt the labels."""
    from pacsklearn.cli.named_estimator import named_estimator
    from pacsklearn.cli.recipe import budget_of
    from pacsklearn.cli.table import read_table
    from pacsklearn.estimators.pac_private import PACPrivate
    from pacsklearn.estimators.released_answers import Answers
    from pacsklearn.estimators.subsets import Subsets
    from pacsklearn.plots.report import privacy_report
    from pacsklearn.tabular.students.distillation import distill as distilled

    teacher = named_estimator(estimator, params)
    learner = named_estimator(student, student_params)
    table, public_table = read_table(data, target, groups), read_table(public)
    if target in public_table.X:
        note(f"Warning: the public rows' column {target!r} is not used.")
        public_table.X.drop(columns=target, inplace=True)
    if groups is not None and groups in public_table.X:
        public_table.X.drop(columns=groups, inplace=True)
    source = PACPrivate(
        teacher,
        budget=budget_of({"budget": options.stated_budget(nats=nats, allow_exact=allow_exact)}),
        release=Answers(len(public_table.X) if answers is None else answers),
        secret=Subsets(subsets),
        ledger=charged_ledger(ledger, dataset, user, project),
        n_jobs=jobs,
    )
    given = {} if table.groups is None else {"groups": table.groups}
    title = f"{type(learner).__name__}, taught by private answers of {type(teacher).__name__}"
    with publication(output, statement, force=force, key=key, about=about) as place:
        if ledger is None:
            source.set_params(ledger=ledger_beside(data, output))
        source.fit(table.X, table.y, **given)
        trained = distilled(source, learner, public_table.X, alpha=alpha)
        document = {
            **privacy_report(trained, title=title).statement,
            "model": place.model.name,
            "n_public": trained.n_public,
            "n_kept": trained.n_kept,
        }
        place.write(trained.estimator, document)
    say(
        document,
        f"{trained.guarantee}\n\n{trained.n_kept} of {trained.n_public} public rows were kept\n"
        f"student    {place.model}\nstatement  {place.statement}",
        as_json=as_json,
    )
