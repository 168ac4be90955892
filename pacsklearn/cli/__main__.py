"""``pacsklearn``, and ``python -m pacsklearn.cli``."""

from __future__ import annotations

import sys

from pacsklearn.cli import INTERRUPTED, missing_extra


def main() -> None:
    """Run the command line ``pacsklearn`` and exit."""
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


if __name__ == "__main__":
    main()
