"""What this distribution does with what the kernel tells and asks: clock, bar, configuration."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import final

from pacsklearn._config import get_config
from pacsklearn._fit_report import note_fits, stage
from pacsklearn._optional import install_hint
from pacsklearn._progress import bar
from pacsklearn.kernel.host import Host


@final
class Surroundings(Host):
    """Each thread's configuration and clock, one terminal, and what the repository holds."""

    def fast_fit(self) -> bool:
        return get_config()["fast_fit"]

    def stage(self, name: str) -> AbstractContextManager[None]:
        return stage(name)

    def progress(self, what: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        return bar(what, total)

    def fitted(self, together: int, one_by_one: int, reason: str) -> None:
        note_fits(together, one_by_one, reason)

    def install_hint(self, kind: str, name: object) -> str:
        return install_hint(kind, name)
