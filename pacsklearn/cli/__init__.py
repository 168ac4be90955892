"""Command line; needs the extra ``cli``."""

from __future__ import annotations

import sys

__all__ = ["main"]

_OPTIONAL = ("typer", "rich", "click", "pandas")


def main() -> None:
    """Entry point of ``pacsklearn``: run the command line and exit."""
    try:
        from pacsklearn.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _OPTIONAL:
            raise
        sys.stderr.write(
            f"The command line needs {error.name}, which is not installed: "
            'pip install "pacsklearn[cli]"\n'
        )
        sys.exit(2)
    app(prog_name="pacsklearn")
