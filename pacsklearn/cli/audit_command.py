"""``pacsklearn audit``: attacks against a released model's guarantee."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pacsklearn.cli import options
from pacsklearn.cli.console import VIOLATED, Output, guarded, note

if TYPE_CHECKING:
    from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee


@guarded
def audit(
    data: options.Data,
    statement: Annotated[Path, typer.Argument(help="Statement that `pacsklearn release` wrote.")],
    *,
    attacks: Annotated[
        str, typer.Option(help="Names separated by commas; see `pacsklearn plugins`.")
    ] = "auto",
    trials: Annotated[int, typer.Option(help="Rounds counted for each attack.")] = 1000,
    level: Annotated[str, typer.Option(help="Confidence of all intervals together.")] = "0.999",
    seed: Annotated[int, typer.Option(help="Public seed of the rounds.")] = 0,
    results: options.Results,
    checklist: Annotated[
        Path | None, typer.Option(help="Where the output check goes (HTML or JSON).")
    ] = None,
    purpose: Annotated[str, typer.Option(help="Why it is published, for the output check.")] = "",
    limit: options.Limit,
    jobs: options.Jobs = None,
) -> Output:
    """Replay the mechanism of a statement on its rows and attack it.

    Exits with 1 if it leaks, or if any other line of the output check is violated.

    A model is fitted anew, with a secret of its own that is thrown away; nothing is charged.
    Budgets that are given are limits of the output check.
    """
    from pacsklearn.audit.auditor import run_audit
    from pacsklearn.audit.near_duplicates import near_duplicates
    from pacsklearn.cli import recipe as recipes
    from pacsklearn.kernel.guarantee.guarantee import Guarantee
    from pacsklearn.plots.audit import AuditDisplay
    from pacsklearn.plots.output_checklist import output_checklist
    from pacsklearn.plots.page import page_kind

    results.check()
    if checklist is not None:
        page_kind(options.checked_output(checklist, force=results.force))
    confidence = options.number(level, "--level")
    document = recipes.read_statement(statement)
    recipe = document.get("recipe")
    if not isinstance(recipe, dict):
        raise ValueError(f"{statement.name} has no recipe; only what was released here has one.")
    if recipe.get("estimator") == recipes.CONSTANT:
        raise ValueError(
            f"{statement.name} is about a public constant, which is a function of no row: there is "
            "nothing to attack."
        )
    stated = Guarantee.from_dict(document["guarantee"])
    limits = [recipes.budget_of({"budget": each}) for each in limit.listed]
    output_checklist(stated, title="", limits=limits)  # refuses what it states nothing of
    table = recipes.table_of(recipe, data)
    given = recipes.fit_options(recipe, table)
    model = recipes.model_of(recipe, n_jobs=jobs).fit(table.X, table.y, **given)
    _same_promise(stated, model.guarantee_)
    report = run_audit(
        model,
        table.X,
        table.y,
        attacks=attacks if attacks == "auto" else options.listed(attacks),
        n_trials=trials,
        level=confidence,
        **given,
        random_state=seed,
        n_jobs=jobs,
    )
    results.write(report, lambda: AuditDisplay.from_audit(report))
    near = near_duplicates(table.X, table.groups)
    if near.n_affected:
        note(str(near))
    check = output_checklist(
        stated,
        title=document["title"],
        audit=report,
        purpose=purpose,
        limits=limits,
    )
    if checklist is not None:
        with options.writing(checklist):
            check.save(checklist)
    violated = [f"VIOLATED: {line.question} {line.finding}" for line in check.violations]
    data = json.loads(report.to_json()) | {"checklist": check.to_dict()}
    return Output(data, "\n".join([str(report), *violated]), 0 if check.passed else VIOLATED)


def _same_promise(stated: Any, replayed: PACGuarantee) -> None:
    """Refuse an audit of something else than what the statement is about."""
    names = ("n_rows", "n_units", "n_subsets", "privacy_unit", "criterion", "noise")
    here, expected = (
        {name: getattr(each, name, getattr(each.secret, name, None)) for name in names}
        for each in (replayed, stated)
    )
    for name in names:
        if expected[name] != here[name]:
            raise ValueError(
                f"The rows do not give the statement's guarantee: its {name} is "
                f"{expected[name]!r}, here it is {here[name]!r}."
            )
    # Libraries of another version round otherwise; another promise is further off.
    if not abs(stated.spent - replayed.spent) <= 1e-3 * max(stated.spent, replayed.spent):
        raise ValueError(
            f"The rows do not give the statement's guarantee: it says {stated.spent:.6g}, here it "
            f"is {replayed.spent:.6g}."
        )
