"""What the kernel tells whoever runs it, and asks of it: no guarantee rests on the answers.

Bars, clocks, configuration, lines and tables, and what is installed in which version stand outside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from pacsklearn.kernel import surroundings

if TYPE_CHECKING:  # this module loads next to nothing
    from pacsklearn.kernel.guarantee.guarantee import Guarantee
    from pacsklearn.kernel.plugins.catalogue import Source


class Host(ABC):
    """Who runs the kernel.

    It is told names, counts and what is released, never a row or what a candidate gives.
    """

    @abstractmethod
    def fast_fit(self) -> bool:
        """Return whether candidates may be fitted together where that gives the same models."""

    @abstractmethod
    def stage(self, name: str) -> AbstractContextManager[None]:
        """Be told that a stage of the work begins and ends."""

    @abstractmethod
    def progress(self, what: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """Take a total, and what is to be told how much of it is done."""

    @abstractmethod
    def compiler(self) -> Any:
        """Return Numba's decorator; None where loops run by their references, bit for bit alike."""

    @abstractmethod
    def fitted(self, together: int, one_by_one: int, reason: str) -> None:
        """Be told how candidates were fitted, and why not together."""

    @abstractmethod
    def marked(self, value: Any, guarantee: Guarantee) -> Any:
        """Give what leaves, where it is a model, the promise about it; the same value."""

    @abstractmethod
    def rehearse(self, value: Any, guarantee: Callable[[], Guarantee]) -> None:
        """Rehearse what will leave on public numbers, before it is charged; an error refuses it."""

    @abstractmethod
    def laid_out(self, guarantee: Guarantee, form: str) -> str:
        """Lay out the words of a guarantee: "text" or "html", or a "summary" on one screen."""

    @abstractmethod
    def plugins(self, find_entry_points: Any = None) -> Source:
        """Find the rings and the plugins that are installed, or those that are given."""

    @abstractmethod
    def target(self, made: Any) -> str:
        """Return ``"package:Object"`` of a class, by the name that users import."""

    @abstractmethod
    def distribution(self, target: str) -> tuple[str, str]:
        """Return the name and version of the distribution that a target belongs to."""

    @abstractmethod
    def install_hint(self, kind: str, name: object) -> str:
        """Return how to install what brings a plugin; empty when it is not known."""


@cache
def host() -> Host:
    """Return who runs the kernel in this process."""
    # Whatever it answers, laws and charges are the same: no guarantee rests on it.
    made: Host = surroundings()
    return made


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Tell the host of a stage; as a decorator too."""
    with host().stage(name):
        yield
