"""Command line; needs the extra ``cli``."""

from __future__ import annotations

import sys

__all__ = ["INTERRUPTED", "main", "missing_extra"]

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it: 128 and the signal's number."""

_OPTIONAL = ("typer", "rich", "click", "pandas")


def missing_extra(error: ImportError) -> str | None:
    """What to install, if ``error`` is about a package of the extra ``cli``."""
    if (error.name or "").partition(".")[0] not in _OPTIONAL:
        return None
    from pacsklearn._optional import install_command  # Ctrl-C before main shows a traceback

    return f"The command line needs {error.name}, which is not installed: {install_command('cli')}"


def main() -> None:
    """Entry point of ``pacsklearn``: run the command line and exit."""
    try:
        try:
            from pacsklearn.cli.app import app
        except ModuleNotFoundError as error:
            text = missing_extra(error)
            if text is None:
                raise
            sys.stderr.write(f"{text}\n")
            sys.exit(2)
        app(prog_name="pacsklearn")
    except KeyboardInterrupt:  # a command ends its own; this one came while modules were loaded
        sys.stderr.write("Interrupted.\n")
        sys.exit(INTERRUPTED)
    finally:
        import signal  # not above, where an interrupt would show

        # A second Ctrl-C, while the interpreter cleans up, ends it without a traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
