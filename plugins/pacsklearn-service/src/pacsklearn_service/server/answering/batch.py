"""Requests that are answered together: what is written before the charge, and after the draw."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Self, final

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, with_config

from pacsklearn.estimators.cost_preview import affords
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn_service.server.caller import Ask
from pacsklearn_service.server.signature import Signature

_AS_JSON: Final = ConfigDict(
    ser_json_bytes="base64", val_json_bytes="base64", ser_json_inf_nan="constants"
)


@final
@with_config(_AS_JSON)
@dataclass(eq=False)
class Share:
    """One request's part in a batch.

    Parameters
    ----------
    user, project : str or None
    price : float
        Nats that the caller's quota is debited.
    names : list of bytes
        Of every row, in the order asked.
    new : list of bytes
        Of the rows that are new to the caller, who has paid for them now.
    key : str or None
        Idempotency key; the reply belongs to it even when another process gives it.
    body : bytes
        Digest of the request's body.
    reservation : str or None
        Of the caller's own, which pays.
    remaining : float or None
        What is left of the caller's quota once it is debited; None before.
    """

    user: str
    project: str | None
    price: float
    names: list[bytes] = field(repr=False)
    new: list[bytes] = field(repr=False)
    key: str | None = None
    body: bytes = field(default=b"", repr=False)
    reservation: str | None = None
    remaining: float | None = None


@final
@with_config(_AS_JSON)
@dataclass(frozen=True, eq=False)
class Batch:
    """What is about to be charged: enough to finish it in another process.

    Parameters
    ----------
    event : int
        Number of the session's next event, which the charge will have.
    names : list of bytes
        Of the queries that nobody has asked before.
    flags : list of bool
        Whether each is contested under the prior.
    rows : bytes
        The queries, as the signature packs them; empty when there are none.
    shares : list of Share
    id : str
        Random, and no other batch's.
    """

    event: int
    names: list[bytes] = field(repr=False)
    flags: list[bool] = field(repr=False)
    rows: bytes = field(repr=False)
    shares: list[Share] = field(repr=False)
    id: str = field(default_factory=partial(secrets.token_hex, 16))


@final
@with_config(_AS_JSON)
@dataclass(frozen=True, eq=False)
class Learned:
    """What all answers so far have left behind.

    Parameters
    ----------
    belief : list of float
        Log-weights of the candidates.
    counts : (int, int)
        Rows that the responder has answered and charged.
    charged : int
        Events of the session that were charges.
    batch : str
        The last one that was charged.
    """

    belief: list[float] = field(repr=False)
    counts: tuple[int, int]
    charged: int
    batch: str = ""


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
    flags : list of bool
    """

    place: dict[bytes, int]
    columns: dict[str, NDArray[Any]]
    predictions: NDArray[Any]
    flags: list[bool]

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
        return cls(place, columns, predictions, contested.tolist())

    def contested(self, names: Sequence[bytes]) -> int:
        """Return how many of the queries are contested."""
        return sum(map(self.flags.__getitem__, map(self.place.__getitem__, names)))

    def borne(self, responder: Responder, shares: Mapping[int, Share]) -> set[int]:
        """Return the requests that data set and session can bear, in the order they came.

        Counted as if nobody had asked any of the rows: a stored one is refused as a fresh one is.
        """
        if affords(responder, sum(self.contested(each.new) for each in shares.values())):
            return set(shares)
        borne, count = set[int](), 0
        for i, share in shares.items():
            if affords(responder, count + self.contested(share.new)):
                count += self.contested(share.new)
                borne.add(i)
        return borne
