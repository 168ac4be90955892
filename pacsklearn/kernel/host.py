"""What the kernel tells whoever runs it, and asks of it: no guarantee rests on the answers.

Bars, clocks, configuration and ways to install stand outside; here they say and ask nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext


class Host:
    """Who runs the kernel. It is told names and counts, never a row or a fitted number."""

    def fast_fit(self) -> bool:
        """Whether candidates may be fitted together where that gives the same models."""
        return True

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Be told that a stage of the work begins and ends."""
        return nullcontext()

    def progress(self, what: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """Take a total, and what is to be told how much of it is done."""
        return nullcontext(_unheard)

    def fitted(self, together: int, one_by_one: int, reason: str) -> None:
        """Be told how candidates were fitted, and why not together."""

    def install_hint(self, kind: str, name: object) -> str:
        """Sentence that says how to install what brings a plugin; empty when it is not known."""
        return ""


def _unheard(done: int) -> None:
    """Take how much is done, for a host that shows nothing."""


_host = Host()


def host() -> Host:
    """Who runs the kernel in this process."""
    return _host


def run_by(host: Host) -> None:
    """Let ``host`` be told and asked from now on."""
    global _host  # noqa: PLW0603 - one for the process, set when pacsklearn is imported
    _host = host


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Tell the host of a stage; as a decorator too."""
    with _host.stage(name):
        yield
