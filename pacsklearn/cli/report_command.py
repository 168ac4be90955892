"""``pacsklearn report``: a page from a statement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from pacsklearn.cli.console import Output, guarded
from pacsklearn.cli.options import Force, checked_output, writing


@guarded
def report(
    statement: Annotated[
        Path, typer.Argument(help="Statement that `pacsklearn release` or `distill` wrote.")
    ],
    *,
    output: Annotated[Path, typer.Option(help="Where the page goes (.html, or .json).")],
    audit: Annotated[Path | None, typer.Option(help="What `pacsklearn audit` wrote.")] = None,
    curve: Annotated[Path | None, typer.Option(help="What `pacsklearn curve` wrote.")] = None,
    for_publication: Annotated[
        bool, typer.Option("--for-publication", help="Leave out what is for the curator only.")
    ] = False,
    force: Force = False,
) -> Output:
    """Write a page about a release: what, how private, against whom, how good."""
    from pacsklearn.audit.audit_record import Audit
    from pacsklearn.cli.recipe import read_statement
    from pacsklearn.kernel.guarantee.guarantee import Guarantee
    from pacsklearn.plots.report import privacy_report
    from pacsklearn.tabular.choosing.privacy_utility_curve import PrivacyUtilityCurve

    checked_output(output, force=force)
    document = read_statement(statement)
    made = privacy_report(
        Guarantee.from_dict(document["guarantee"]),
        audit=None if audit is None else _read(audit, Audit),
        curve=None if curve is None else _read(curve, PrivacyUtilityCurve),
        title=str(document["title"]),
        for_publication=for_publication,
    )
    full = replace(made, statement={**made.statement, "recipe": document.get("recipe")})
    with writing(output):
        place = full.save(output)
    return Output({"report": str(place), "statement": full.statement}, f"report  {place}")


def _read(path: Path, kind: type[Any]) -> Any:
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    try:
        return kind.from_json(path.read_text(encoding="utf-8"))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError(f"{path.name} holds no {kind.__name__}.") from None
