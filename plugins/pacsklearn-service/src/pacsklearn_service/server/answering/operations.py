"""Who may ask the coordinator for what, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, final

from pacsklearn_service.server.answering.asking import Asking
from pacsklearn_service.server.answering.coordinator import Coordinator
from pacsklearn_service.server.answering.curating import Curating
from pacsklearn_service.server.caller import Caller
from pacsklearn_service.server.link import Operation
from pacsklearn_service.server.problem import Problem


@final
class Operations:
    """What may be asked, and by whom.

    A worker may have been taken over, so it sends the key or token that it was shown, and both
    identity and scope are checked here. A method's first word says who may ask: anybody, whoever is
    known, who has the scope ``ask`` or the scope ``curate``.

    Parameters
    ----------
    coordinator : Coordinator
    """

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._parts = Asking(coordinator), Curating(coordinator), coordinator.jobs

    def __call__(self, what: str) -> Operation:
        """Call the operation of a name with the key or token shown, facts and a content."""
        for part in self._parts:
            for who, checked in _RIGHTS.items():
                operation = getattr(part, f"{who}_{what}", None)
                if operation is not None:
                    return lambda shown, facts, content: operation(
                        checked(None if shown is None else self._coordinator.callers.find(shown)),
                        **facts | ({"content": content} if content else {}),
                    )
        raise Problem("not-found", "There is no such operation.")


def _known(caller: Caller | None) -> Caller:
    if caller is None:
        raise Problem("unauthenticated", "Show a key: Authorization: Bearer ...")
    return caller


def _with(scope: str) -> Callable[[Caller | None], Caller]:
    def checked(caller: Caller | None) -> Caller:
        known = _known(caller)
        known.need(scope)
        return known

    return checked


_RIGHTS: Final[dict[str, Callable[[Caller | None], Any]]] = {
    "anybody": lambda caller: caller,
    "known": _known,
    "asker": _with("ask"),
    "curator": _with("curate"),
}
