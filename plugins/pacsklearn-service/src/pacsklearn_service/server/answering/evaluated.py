"""What the candidates say of queries, before anything is charged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.answers.responder import Responder
from pacsklearn_service.server.answering.batch import Share
from pacsklearn_service.server.caller import Ask
from pacsklearn_service.server.signature import Signature


@final
@dataclass(frozen=True, eq=False, repr=False)
class Evaluated:
    """Some queries, what candidates say of them, and which are contested under the prior.

    Parameters
    ----------
    place : dict of bytes to int
        Of a query's name in the rest.
    columns : dict of str to ndarray
    predictions : ndarray
    flags : ndarray of bool
    """

    place: dict[bytes, int]
    columns: dict[str, NDArray[Any]]
    predictions: NDArray[Any]
    flags: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        responder: Responder,
        signature: Signature,
        parts: Sequence[tuple[Ask, Share]],
        log_prior: NDArray[np.float64],
    ) -> Self:
        """Evaluate every row that is new to who asks it.

        Also rows that somebody else has asked: their work is the same as a fresh row's.
        """
        place: dict[bytes, int] = {}
        new_rows = []
        for ask, share in parts:
            # Reversed, so that of a row that stands twice the first place is kept.
            at = {name: k for k, name in reversed(list(enumerate(share.names)))}
            new = [name for name in share.new if name not in place]
            if new:
                place |= {name: len(place) + k for k, name in enumerate(new)}
                new_rows.append(ask.part(np.asarray([at[name] for name in new], dtype=np.intp)))
        columns = {name: np.concatenate([part[name] for part in new_rows]) for name in new_rows[0]}
        predictions = responder.predictions(responder.models.checked(signature.rows(columns)))
        contested = responder.kind.engine.contested(predictions, log_prior)
        return cls(place, columns, predictions, contested)

    def contested(self, names: Sequence[bytes]) -> int:
        """How many of the queries are."""
        return sum(bool(self.flags[self.place[name]]) for name in names)

    def total(self, shares: Iterable[Share]) -> int:
        """How many contested rows requests pay for, each those that are new to who sent it."""
        return sum(self.contested(each.new) for each in shares)

    def borne(self, responder: Responder, shares: Mapping[int, Share]) -> set[int]:
        """Requests that data set and session can bear, in the order they came.

        Counted as if nobody had asked any of the rows: a stored one is refused as a fresh one is.
        """
        if responder.affords(self.total(shares.values())):
            return set(shares)
        borne, count = set[int](), 0
        for i, share in shares.items():
            if responder.affords(count + self.contested(share.new)):
                count += self.contested(share.new)
                borne.add(i)
        return borne
