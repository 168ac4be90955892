"""Command line; needs the extra ``cli``."""

from __future__ import annotations

__all__ = ["INTERRUPTED", "missing_extra"]

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it: 128 and the signal's number."""

_OPTIONAL = ("typer", "rich", "click", "pandas")


def missing_extra(error: ImportError) -> str | None:
    """Return what to install, if ``error`` is about a package of the extra ``cli``."""
    if (error.name or "").partition(".")[0] not in _OPTIONAL:
        return None
    from pacsklearn._optional import install_command  # Ctrl-C before main shows a traceback

    return f"The command line needs {error.name}, which is not installed: {install_command('cli')}"
