"""``pacsklearn schema``: draft of a public codebook, for a person to confirm."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pacsklearn.cli import options
from pacsklearn.cli.console import Output, guarded, note


@guarded
def schema(
    data: options.Data,
    *,
    output: Annotated[Path, typer.Option(help="Where the draft goes (.json or .yaml).")],
    columns: options.Roles,
    force: options.Force = False,
) -> Output:
    """Draft a codebook of the columns. What was looked up in the rows is marked, and private."""
    from pacsklearn.cli import recipe as recipes
    from pacsklearn.tabular.schema.schema import Schema, write_document
    from pacsklearn.tabular.schema.template import repeated_identifiers

    options.checked_output(output, force=force)
    X = recipes.table_of(recipes.columns_of(options.Columns(**vars(columns))), data).X
    draft = Schema.template(X)
    given = {"target": columns.target, "groups": columns.groups, "id": columns.identifier}
    roles = {role: name for role, name in given.items() if name is not None}
    with options.writing(output):
        write_document(output, draft.to_table_schema() | ({"pacsklearn": roles} if roles else {}))
    ignored = [column.name for column in draft if column.kind == "ignored"]
    left_out = (
        f" Ignored: {', '.join(ignored)}, which seem to name or number the rows, as an index does. "
        "To use one, write another kind; texts of dates must read 2024-02-29."
        if ignored
        else ""
    )
    # Rows of one person are protected together only where the release is told so.
    units = "".join(
        f" {name} looks like an identifier, and its values repeat: if it names persons, give "
        f"--groups {name} here and to the release; else give --drop {name}."
        for name in ([] if columns.groups else repeated_identifiers(X))
    )
    note(
        f"{len(draft.open_columns)} of {len(draft)} columns have facts that were looked up in the "
        "rows ('looked_up'). Replace them by what a codebook says and take the mark away, or add "
        '"confirmed": true beside it. Until then the draft is private and no release takes it.'
        f"{left_out}{units}"
    )
    facts = {"schema": str(output), "columns": len(draft), "open": len(draft.open_columns)}
    return Output(facts, f"schema  {output}")
