"""What a request is refused with: RFC 9457 problem details, which quote no row and no secret."""

from __future__ import annotations

import dis
from typing import Any, Final, final

from pacsklearn.exceptions import (
    BudgetError,
    BudgetExhaustedError,
    ForeignProcessError,
    LedgerError,
    PacsklearnError,
)
from pacsklearn_service.channel import PREFIX, further

KINDS: Final = {
    "bad-request": (400, "The request cannot be read"),
    "unauthenticated": (401, "Say who you are"),
    "forbidden": (403, "Not with this key"),
    "budget-exhausted": (403, "The budget of the data set is exhausted"),
    "not-found": (404, "There is nothing of this name"),
    "method-not-allowed": (405, "Not a method of this address"),
    "not-acceptable": (406, "No such form of answer"),
    "in-progress": (409, "A request with this key is being answered"),
    "conflict": (409, "It is there already, or in use"),
    "price-too-high": (412, "The price could be above max_charge"),
    "too-large": (413, "The request is too large"),
    "unsupported-media-type": (415, "No such form of request"),
    "invalid": (422, "The request is not valid"),
    "key-reused": (422, "The idempotency key was used for another request"),
    "quota-exhausted": (429, "The quota of the caller is exhausted"),
    "too-many-requests": (429, "Too many requests"),
    "defect": (500, "The service failed"),
    "elsewhere": (503, "Another coordinator answers for this"),
    "unavailable": (503, "The service is not ready"),
    "timeout": (503, "The request took too long"),
}
"""Name of a problem, its status and its title."""
_AGAIN: Final = {"in-progress": 1, "elsewhere": 1, "timeout": 1, "unavailable": 2}
"""Seconds after which what is refused so may succeed."""
_RAISE: Final = dis.opmap["RAISE_VARARGS"]

NOT_READ: Final = (
    "The model cannot answer these rows; nothing was charged. Their values must be finite, and "
    "within the range that the model computes with."
)


@final
class Problem(Exception):  # noqa: N818 - RFC 9457's word
    """A refused request.

    Parameters
    ----------
    kind : str
        One of :data:`KINDS`.
    detail : str
        Names the field, what was expected and what to do; quotes no row.
    **more : object
        Further members, for instance ``retry_after`` in seconds.
    """

    def __init__(self, kind: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        again = {"retry_after": _AGAIN[kind]} if kind in _AGAIN else {}
        self.kind, self.detail, self.more = kind, detail, again | more
        self.status, self.title = KINDS[kind]

    def document(self) -> dict[str, Any]:
        """Return the members of the response's body."""
        return {
            "type": PREFIX + self.kind,
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "error": self.detail,  # what clients of the Open Inference Protocol print
            **self.more,
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Problem:
        """Return the problem that :meth:`document` described."""
        kind = document["type"].removeprefix(PREFIX)
        return cls(kind, document["detail"], **further(document))


def taken(kind: str, name: str) -> Problem:
    """Return the refusal of a name that something of a kind has already."""
    return Problem("conflict", f"There is a {kind} {name!r} already.")


def words_of(error: BaseException) -> str:
    """Return what an error of ours says, and of others the kind alone: their words may quote rows.

    Nothing of what ours say is secret. Ours are also those that code of ours has raised itself: of
    what a library in C raises the last frame is ours too.
    """
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    is_ours = isinstance(error, Problem | PacsklearnError)
    if at is not None and at.tb_frame.f_globals.get("__name__", "").startswith("pacsklearn."):
        is_ours |= at.tb_frame.f_code.co_code[at.tb_lasti] == _RAISE
    return str(error) if is_ours else type(error).__name__


def problem_of(error: BaseException) -> Problem:
    """Return the refusal for what the layers below raise.

    Nothing of an unexpected error's text leaves.
    """
    if isinstance(error, Problem):
        return error
    if isinstance(error, BudgetExhaustedError):
        return Problem(
            "budget-exhausted",
            "What remains of the data set's budget does not cover this request; nothing was "
            "charged. Ask fewer rows, or rows that you have asked before: those are free.",
        )
    if isinstance(error, BudgetError):
        return Problem("invalid", str(error))
    if isinstance(error, LedgerError | ForeignProcessError):
        return Problem(
            "unavailable",
            "The ledger cannot be charged by this process now; try again with the same "
            "Idempotency-Key.",
        )
    if isinstance(error, MemoryError):
        return Problem("too-large", "The request needs more memory than a worker may have.")
    return Problem("defect", "An unexpected error; the operator finds its kind in the log.")
