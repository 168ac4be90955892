"""Who asks, and what for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn_service.server.problem import Problem

SCOPES: Final = ("ask", "curate")
"""What a key may be good for: the data and private planes, or the curator's."""


@final
@dataclass(frozen=True)
class Caller:
    """Somebody who has shown a key or a token.

    Parameters
    ----------
    user : str
    project : str or None
    scopes : frozenset of str
    key : str
        Name of the key, for the audit log; never the key.
    """

    user: str
    project: str | None
    scopes: frozenset[str]
    key: str = ""

    def need(self, scope: str) -> None:
        """Refuse without a scope."""
        if scope not in self.scopes:
            raise Problem("forbidden", f"This key does not have the scope {scope!r}.")


@final
@dataclass(frozen=True, eq=False)
class Ask:
    """A request for answers.

    Parameters
    ----------
    caller : Caller
    columns : mapping of str to ndarray
        Checked by the model's signature.
    key : str or None
        Idempotency key.
    body : bytes
        Digest of the request's body.
    max_charge : float or None
    dry_run : bool
    reservation : str or None
        Name of the caller's reservation that pays.
    """

    caller: Caller
    columns: dict[str, NDArray[Any]] = field(repr=False)
    key: str | None = None
    body: bytes = b""
    max_charge: float | None = None
    dry_run: bool = False
    reservation: str | None = None

    @property
    def n_rows(self) -> int:
        """Rows asked."""
        return len(next(iter(self.columns.values())))

    def part(self, rows: NDArray[np.intp] | slice) -> dict[str, NDArray[Any]]:
        """Return some of the rows."""
        return {name: column[rows] for name, column in self.columns.items()}
