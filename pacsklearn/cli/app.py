"""All commands under one name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, final

import typer
from typer.core import TyperGroup

from pacsklearn.cli.audit_command import audit
from pacsklearn.cli.budget_command import budget
from pacsklearn.cli.console import guarded
from pacsklearn.cli.curve_command import curve
from pacsklearn.cli.distill_command import distill
from pacsklearn.cli.extensions import added_commands
from pacsklearn.cli.ledger_command import ledger_app
from pacsklearn.cli.plugins_command import plugins
from pacsklearn.cli.release_command import release
from pacsklearn.cli.report_command import report
from pacsklearn.cli.schema_command import schema
from pacsklearn.exceptions import PluginError
from pacsklearn.kernel.ledger.address import without_password

_USAGE: Final[Any] = typer.BadParameter.__base__


@final
class _Commands(TyperGroup):
    """Commands; what is wrong in how they are called is said without passwords."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except _USAGE as error:
            # Of any word that is out of place: it may be the address of a ledger.
            words = r"[^\s'\"(]+"
            error.message = re.sub(words, lambda word: without_password(word[0]), error.message)
            raise


app = typer.Typer(
    name="pacsklearn",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Private scikit-learn models with a provable guarantee. Information is in nats.",
    epilog="Exit codes: 0 fine, 1 a violated audit or an altered ledger, 2 bad usage or a refused "
    "request, 3 a defect, 130 interrupted.",
)
_OWN = {
    command.__name__: command
    for command in (release, curve, audit, report, budget, plugins, distill, schema)
}
for _name, _command in _OWN.items():
    app.command(_name)(_command)
app.add_typer(ledger_app, name="ledger")


def _refusing(error: PluginError) -> Callable[[], None]:
    @guarded
    def refuse() -> None:
        raise error

    return refuse


for _name, _added in added_commands({*_OWN, "ledger"}).items():
    if isinstance(_added, PluginError):
        # Takes whatever is given to it, to say what is missing rather than what is misspelt.
        app.command(
            _name,
            help=str(_added),
            hidden=True,
            context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
        )(_refusing(_added))
    elif isinstance(_added, typer.Typer):
        app.add_typer(_added, name=_name)
    else:
        app.command(_name)(_added)


@app.callback(invoke_without_command=True)
def start(*, version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    """Make private scikit-learn models with a provable guarantee. Information is in nats."""
    if version:
        import pacsklearn

        typer.echo(pacsklearn.__version__)
        raise typer.Exit
