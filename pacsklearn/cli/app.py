"""All commands under one name."""

from __future__ import annotations

import typer

from pacsklearn.cli.audit_command import audit
from pacsklearn.cli.budget_command import budget
from pacsklearn.cli.curve_command import curve
from pacsklearn.cli.distill_command import distill
from pacsklearn.cli.ledger_command import ledger_app
from pacsklearn.cli.plugins_command import plugins
from pacsklearn.cli.release_command import release
from pacsklearn.cli.report_command import report
from pacsklearn.cli.schema_command import schema
from pacsklearn.publishing.publish_command import key, publish, verify
from pacsklearn.service.serve_command import serve

app = typer.Typer(
    name="pacsklearn",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Private scikit-learn models with a provable guarantee. Information is in nats.",
    epilog="Exit codes: 0 fine, 1 a violated audit or an altered ledger, 2 bad usage or a refused "
    "request, 3 a defect, 130 interrupted.",
)
for command in (
    release,
    curve,
    audit,
    report,
    publish,
    verify,
    key,
    budget,
    plugins,
    distill,
    schema,
    serve,
):
    app.command()(command)
app.add_typer(ledger_app, name="ledger")


@app.callback(invoke_without_command=True)
def start(*, version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    """Private scikit-learn models with a provable guarantee. Information is in nats."""
    if version:
        import pacsklearn

        typer.echo(pacsklearn.__version__)
        raise typer.Exit
