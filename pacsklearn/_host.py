"""What this distribution does with what the kernel tells and asks: clock, bar, installation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

from pacsklearn._config import get_config
from pacsklearn._fit_report import note_fits, stage
from pacsklearn._optional import install_hint
from pacsklearn._progress import bar
from pacsklearn._rehearsal import rehearse
from pacsklearn.kernel.host import Host

if TYPE_CHECKING:  # found when the first plugin is asked for
    from pacsklearn._discovery import Plugins
    from pacsklearn.kernel.guarantee.guarantee import Guarantee


@final
class Surroundings(Host):
    """Each thread's configuration and clock, one terminal, and what is installed."""

    stage = staticmethod(stage)
    progress = staticmethod(bar)
    fitted = staticmethod(note_fits)
    install_hint = staticmethod(install_hint)

    def compiler(self) -> Any:
        from pacsklearn._compiler import compiler

        return compiler()

    def fast_fit(self) -> bool:
        return get_config()["fast_fit"]

    def marked(self, value: Any, guarantee: Guarantee) -> Any:
        from pacsklearn.estimators.model_digest import mark_released

        return mark_released(value, guarantee)

    def rehearse(self, value: Any, guarantee: Callable[[], Guarantee]) -> None:
        rehearse(value, lambda: self.marked(value, guarantee()))

    def laid_out(self, guarantee: Guarantee, form: str) -> str:
        from pacsklearn._statement_layout import laid_out

        return laid_out(guarantee, form)

    def plugins(self, find_entry_points: Any = None) -> Plugins:
        from pacsklearn._discovery import Plugins

        return Plugins(find_entry_points)

    def target(self, made: Any) -> str:
        from pacsklearn._discovery import target_name

        return target_name(made)

    def distribution(self, target: str) -> tuple[str, str]:
        from pacsklearn._discovery import distribution_of

        return distribution_of(target)
