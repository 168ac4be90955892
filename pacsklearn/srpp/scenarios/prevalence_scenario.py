"""How frequent a value is: hidden by data sets in which it has other shares."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, final

import joblib
import numpy as np

from pacsklearn._validation import brief, check_integer
from pacsklearn.exceptions import ScenarioError
from pacsklearn.kernel.noise.noise_law import Integers
from pacsklearn.srpp.scenarios.checks import (
    class_codes,
    described_pairs,
    numbers,
    pair_indices,
    secret_codes,
)
from pacsklearn.srpp.scenarios.scenario import CONFIDENCE, RowWorld, Scenario, SecretColumn, Worlds
from pacsklearn.universe.frame import as_pandas, with_gaps

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


_OWN = "as in the table"
_DRAWS = {True: 8, False: 1000}
_UNIVERSE = (
    "The table's own share, and its rows: the table is a universe that the adversary may know. "
    "Hidden is the share in the training set, which is drawn from it. Give a public reference= to "
    "hide the share of the table itself."
)
_PRIOR = (
    "Tables that are not drawn from the stated laws: rows of the reference, resampled to the "
    "stated shares. How well they stand for the table is not part of the promise."
)


@final
@dataclass(frozen=True)
class PrevalenceScenario(Scenario):
    """Hide how frequent a value of the secret column (or a label) is.

    *Universe* (the default). The table is a universe, whose rows the adversary may know. For each
    share of a public grid several training sets of one public size are drawn from it by a public
    seed; those of neighbouring shares differ by as few rows as it takes. The mechanism draws the
    share (or the curator states it, ``fit(..., realized=0.4)``) and one of its training sets, and
    the model of that is released. Hidden is the share in the *training set*; the table's own
    share is not.

    *Prior* (``reference=``). The table's own share is hidden. What the table could have been is
    drawn from a public sample of such rows, once for each share; noise, clipping, classes and the
    form of the model follow from these draws before the table is looked at. The promise is about
    tables that are drawn like that.

    Parameters
    ----------
    shift : float, default=0.1
        The grid, when ``shares`` is not given: for each value its share in the table (or the
        reference), and the shares this much above and below. Neither the value nor its absence
        becomes more than twice or less than half as frequent.
    shares : sequence of float, optional
        The grid, for one value: shares that must be hard to tell from one another.
    value : object, optional
        Value that the shares are of. When not given: every value with ``shift``; with ``shares``
        the last of two.
    pairs : list of (str, str), optional
        Pairs of secrets to be hard to tell apart; all pairs when not given. They are called
        ``"as in the table"``, ``"'a' 0.1 higher"``, ``"'a' 0.1 lower"``, or ``"'a' at 0.25"``.
    size : int, optional
        Rows of each training set, or of each drawn table; as many as all shares allow, or as the
        reference has, when not given.
    n_draws : int, optional
        Training sets of each share, 8 when not given; with a reference tables drawn for each
        share, 1,000 when not given.
    seed : int, default=0
        Public seed of the draws.
    reference : (X, y, secret), optional
        Public rows, their targets (or None) and their values of the secret column.
    confidence : float, default=0.999999
        With a reference: probability, over the draws, that the promise holds. Training sets that
        are listed need none.

    Notes
    -----
    *Guarantee.* Universe: exact for an adversary who knows the table, the training sets listed and
    everything else but the share and which training set of it was drawn. Prior: for tables drawn
    from the stated laws, with the confidence printed. Source: srpp, sections 2 and 6.1.
    """

    name = "prevalence"
    shift: float = 0.1
    shares: Sequence[float] | None = None
    value: Any = None
    pairs: Iterable[tuple[str, str]] | None = None
    size: int | None = None
    n_draws: int | None = None
    seed: int = 0
    reference: Any = field(default=None, repr=False, compare=False)
    confidence: float = CONFIDENCE

    def __post_init__(self) -> None:
        if self.reference is None:
            if self.confidence != CONFIDENCE:
                raise ScenarioError(
                    "confidence is about tables drawn from a reference; what PrevalenceScenario "
                    "lists without one is known exactly, and it would be ignored. Leave it out."
                )
            return
        given = self.reference
        if not isinstance(given, tuple) or len(given) != 3:
            raise ScenarioError(
                "reference must be a tuple (X, y, secret) of public rows, their targets or None, "
                f"and their values of the secret column, got an object of type "
                f"{type(given).__name__}."
            )
        X, y, secret = given
        X = as_pandas(X) if hasattr(X, "shape") else np.asarray(X)
        if len(X.shape) != 2 or (y is not None and np.shape(y)[:1] != X.shape[:1]):
            raise ScenarioError(
                "reference must have a table X and, unless y is None, one target a row, got arrays "
                f"of shapes {X.shape} and {np.shape(y)}."
            )
        column = secret if isinstance(secret, SecretColumn) else SecretColumn(with_gaps(secret))
        object.__setattr__(self, "reference", (X, y, column))

    @property
    def redrawn(self) -> bool:  # type: ignore[override]
        return self.reference is None

    @property
    def protects(self) -> str:
        where, own = ("training set", "table") if self.redrawn else ("table", "reference")
        if self.shares is None:
            which, grid = "each", f"its share in the {own}, or {self.shift:g} more or less"
        else:
            which, grid = "a", "shares of " + ", ".join(f"{share:g}" for share in self.shares)
        what = f"{which} value of the secret column" if self.value is None else repr(self.value)
        text = f"how frequent {what} is in the {where} ({grid})"
        return f"{text}; the table's own share is not hidden" if self.redrawn else text

    @property
    def releases(self) -> str:
        if self.redrawn:
            return "what was fitted on a training set drawn in secret from the table"
        return "what was fitted on the table, clipped to what the drawn tables give"

    @property
    def not_covered(self) -> tuple[str, ...]:
        return (_UNIVERSE if self.redrawn else _PRIOR,)

    @property
    def description(self) -> str:
        pairs = described_pairs(self.pairs)
        drawn = "" if self.redrawn else f", reference={_digest(self.reference)}"
        return (
            f"PrevalenceScenario(shift={self.shift}, shares={self.shares}, value={self.value!r}, "
            f"pairs={pairs}, size={self.size}, n_draws={self._n_draws}, seed={self.seed}{drawn})"
        )

    @property
    def _n_draws(self) -> int:
        return _DRAWS[self.redrawn] if self.n_draws is None else self.n_draws

    def worlds(self, X: Any, y: Any, secret: SecretColumn | None) -> Worlds:
        n_draws = check_integer(name="n_draws", value=self._n_draws, minimum=1)
        seed = check_integer(name="seed", value=self.seed, minimum=0)
        if self.size is not None:
            check_integer(name="size", value=self.size, minimum=2)
        values, codes = secret_codes(secret, X.shape[0], "PrevalenceScenario")
        counts = np.bincount(codes)
        shares = self._grid(values, counts / codes.size)
        lonely = sum(counts[code] < 2 for code in {each.code for each in shares})
        if lonely:
            raise ScenarioError(
                f"{lonely} of the {len(values)} values of the secret column have a single record: "
                "no training sets of several shares can be drawn. Merge each with another value, "
                "or name one with value=."
            )
        drawn: SharesInUniverse | SharesOfReference
        if self.redrawn:
            drawn = SharesInUniverse(codes, class_codes(y, codes.size), shares, self.size, seed)
        else:
            drawn = SharesOfReference(codes, self.size or codes.size, seed)
        names = [each.name for each in shares]
        return Worlds.drawn(
            [[drawn.world(each, k) for k in range(n_draws)] for each in shares],
            ["training sets drawn from the table" if self.redrawn else "the reference"],
            secrets=tuple(names),
            pairs=pair_indices(self.pairs, names),
            values=() if self.shares is None else tuple(each.share for each in shares),
        )

    def _grid(self, values: list[Any], own: Any) -> list[Share]:
        """Return the secrets: a name, a value and its share each."""
        if self.value is not None and self.value not in values:
            raise ScenarioError(
                f"value must be one of the values in the secret column; no row has "
                f"{brief(self.value)}."
            )
        chosen = range(len(values)) if self.value is None else [values.index(self.value)]
        if len(values) == 2:
            chosen = chosen[-1:]  # the other's share is what is left
        if self.shares is not None:
            if len(chosen) > 1:
                raise ScenarioError(
                    f"shares are those of one value, but the secret column has {len(values)} "
                    "values; name one, value=."
                )
            return [
                Share(f"{values[chosen[0]]!r} at {share:g}", chosen[0], share)
                for share in _checked_shares(self.shares)
            ]
        (shift,) = numbers([self.shift])
        if not 0 < shift < 1:
            raise ScenarioError(f"shift must be a number between 0 and 1, got {brief(self.shift)}.")
        grid = [Share(_OWN, chosen[0], float(own[chosen[0]]))]
        for code in chosen:
            share = float(own[code])
            high = min(share + shift, 2 * share, (1 + share) / 2)
            low = max(share - shift, 2 * share - 1, share / 2)
            grid.append(Share(f"{values[code]!r} {shift:g} higher", code, high))
            grid.append(Share(f"{values[code]!r} {shift:g} lower", code, low))
        return grid


def _checked_shares(shares: Any) -> list[float]:
    checked = sorted(set(numbers(shares)))
    if len(checked) < 2 or not all(0 < share < 1 for share in checked):
        raise ScenarioError(
            "shares must be two different numbers or more, above 0 and below 1 (30 % is 0.3), got "
            f"{brief(shares)}."
        )
    return checked


def _digest(reference: Any) -> str:
    X, y, column = reference
    content = joblib.hash((X, y, column.values, column.place))
    return hashlib.sha256(str(content).encode()).hexdigest()[:12]
