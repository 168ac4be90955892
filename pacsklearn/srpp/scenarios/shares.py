"""Data sets in which a value has a stated share: parts of a universe, and resamples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, final

import numpy as np

from pacsklearn.exceptions import ScenarioError
from pacsklearn.kernel.noise.noise_law import Integers
from pacsklearn.srpp.scenarios.scenario import RowWorld

_KEPT_ORDERS = 64


class Share(NamedTuple):
    """A secret: the share of one value.

    Parameters
    ----------
    name : str
    code : int
        Which value.
    share : float
    """

    name: str
    code: int
    share: float


@final
class SharesInUniverse:
    """Training sets of one size drawn from a universe, the n-th of all shares nested.

    Parameters
    ----------
    codes, classes : ndarray of shape (n_rows,)
        Value and class of each row.
    shares : sequence of Share
    size : int, optional
        Rows of each; as many as all shares allow when not given.
    seed : int

    Raises
    ------
    ScenarioError
        When the universe has not enough rows of some kind.

    Notes
    -----
    The n-th training sets of all shares come from one order of the rows, in which every value and
    class is spread evenly. Changing a share by k rows puts the next k rows with the value (or
    without) in the places of the last k without (or with): nothing else changes.
    """

    def __init__(
        self,
        codes: Integers,
        classes: Integers,
        shares: Sequence[Share],
        size: int | None,
        seed: int,
    ) -> None:
        self._codes, self._classes, self._seed = codes, classes, seed
        counts = np.bincount(codes)
        most = min(_room(int(counts[each.code]), codes.size, each.share) for each in shares)
        if size is not None and size > most:
            raise ScenarioError(
                f"size={size} rows with every share of the grid are not in the table: it allows "
                f"{most} at most. Give a smaller size, or shares nearer to each other."
            )
        self.size = most if size is None else size
        wanted = {(each.code, self._count(each)) for each in shares}
        if self.size < 2 or len(wanted) < len({(each.code, each.share) for each in shares}):
            raise ScenarioError(
                f"Training sets of {self.size} rows cannot tell the shares of the grid apart; "
                "give shares further from each other, or a larger table or size."
            )
        self._order = lru_cache(_KEPT_ORDERS)(self._drawn_order)

    def world(self, share: Share, draw: int) -> RowWorld:
        """Return the training set of a share, from one order of the rows."""
        order = self._order(draw)
        having = self._codes == share.code
        chosen, spare = order[: self.size], order[self.size :]
        missing = self._count(share) - int(having[chosen].sum())
        leaving = chosen[having[chosen] == (missing < 0)][::-1][: abs(missing)]
        entering = spare[having[spare] == (missing > 0)][: abs(missing)]
        rows = np.sort(chosen)
        # In the places of the rows that leave: training sets are compared place by place.
        rows[np.searchsorted(rows, leaving)] = entering
        return RowWorld(rows)

    def _count(self, share: Share) -> int:
        total, n_rows = int(np.sum(self._codes == share.code)), self._codes.size
        low = max(self.size - (n_rows - total), 0)
        return min(max(round(share.share * self.size), low), total, self.size)

    def _drawn_order(self, draw: int) -> Integers:
        generator = np.random.default_rng([self._seed, draw])
        n_rows = self._codes.size
        shuffled = generator.permutation(n_rows)
        cells = self._codes * (int(self._classes.max()) + 1) + self._classes
        place = np.empty(n_rows)
        for cell in np.unique(cells):
            own = shuffled[cells[shuffled] == cell]
            place[own] = (np.arange(own.size) + generator.random()) / own.size
        # A row of each class comes first: a model of fewer classes has another form.
        place[shuffled[np.unique(self._classes[shuffled], return_index=True)[1]]] = -1.0
        return np.argsort(place, kind="stable").astype(np.int64)


@final
class SharesOfReference:
    """Tables resampled from public rows to a stated share, the n-th of all shares together.

    Parameters
    ----------
    codes : ndarray of shape (n_reference,)
        Value of each row of the reference.
    size : int
        Rows of each table.
    seed : int
    """

    def __init__(self, codes: Integers, size: int, seed: int) -> None:
        self._codes, self._size, self._seed = codes, size, seed

    def world(self, share: Share, draw: int) -> RowWorld:
        """Return the draw-th table of a share; all shares use the same random numbers."""
        generator = np.random.default_rng([self._seed, draw])
        tickets = generator.random((2, self._size))
        # Rows with the value stand anywhere in a table, as they do in the real one.
        places = generator.permutation(self._size)
        having = np.flatnonzero(self._codes == share.code)
        lacking = np.flatnonzero(self._codes != share.code)
        count = min(max(round(share.share * self._size), 1), self._size - 1)
        rows = lacking[(tickets[1] * lacking.size).astype(np.int64)]
        entering = places[:count]
        rows[entering] = having[(tickets[0, entering] * having.size).astype(np.int64)]
        return RowWorld(rows)


def _room(total: int, n_rows: int, share: float) -> int:
    """Return the most rows among which the value, with so many rows of all, has the share."""
    # One more than the rounded-down count of either kind would run out of rows.
    return min(n_rows, math.floor(total / share), math.floor((n_rows - total) / (1 - share)))
