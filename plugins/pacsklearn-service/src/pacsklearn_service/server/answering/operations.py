"""Who may ask the coordinator for what, by name."""

from __future__ import annotations

from itertools import product
from typing import Final, final

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
        for part, who in product(self._parts, ("anybody", "known", *_SCOPES)):
            operation = getattr(part, f"{who}_{what}", None)
            if operation is not None:
                return lambda shown, facts, content: operation(
                    self._checked(who, shown), **facts | ({"content": content} if content else {})
                )
        raise Problem("not-found", "There is no such operation.")

    def _checked(self, who: str, shown: str | None) -> Caller | None:
        caller = None if shown is None else self._coordinator.callers.find(shown)
        if who != "anybody" and caller is None:
            raise Problem("unauthenticated", "Show a key: Authorization: Bearer ...")
        if caller is not None and who in _SCOPES:
            caller.need(_SCOPES[who])
        return caller


_SCOPES: Final = {"asker": "ask", "curator": "curate"}
