"""How an adversary chooses the next query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn.kernel.bounds.arrays import Floats

Adversary: TypeAlias = Callable[[Floats, NDArray[np.bool_]], int]
"""``adversary(belief, asked)`` gives the number of the next query: ``belief`` of shape (m,) are the
probabilities of the candidates after all answers so far, ``asked`` of shape (n,) says which queries
were asked before (asking again tells nothing: a session gives the stored answer). A function of its
arguments alone."""


@final
class MostContested:
    """Asks what the candidates disagree about most, under the belief so far.

    A greedy stand-in for the best sequence of queries, which is out of reach to compute
    (pac-private-responses, section 6.3).

    Parameters
    ----------
    predictions : array-like of shape (n, m) or (n, m, d)
        As for :class:`~pacsklearn.audit.transcript_game.TranscriptGame`.

    Notes
    -----
    For labels disagreement is the entropy of the label's distribution under the belief, for values
    the variance summed over the coordinates. Of several queries the first is asked.
    """

    def __init__(self, predictions: ArrayLike) -> None:
        table: Any = np.asarray(predictions)
        self._values = table if table.ndim == 3 else None
        self._shown: NDArray[np.bool_] | None = None
        if table.ndim == 2:
            labels = np.unique(table)
            self._shown = np.stack([table == label for label in labels])

    def __call__(self, belief: Floats, queried: NDArray[np.bool_]) -> int:
        if self._shown is not None:
            masses = self._shown @ belief
            logs = np.log(masses, out=np.zeros_like(masses), where=masses > 0)
            disagreement = -(masses * logs).sum(axis=0)
        else:
            assert self._values is not None
            mean = np.einsum("m,nmd->nd", belief, self._values)
            disagreement = np.einsum("m,nmd->n", belief, (self._values - mean[:, None]) ** 2)
        return int(np.argmax(np.where(queried, -1.0, disagreement)))
