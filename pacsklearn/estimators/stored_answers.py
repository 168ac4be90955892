"""What a responder remembers, by digests of the rows: equal queries get the same answer."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacsklearn.kernel.answers.answer_store import AnswerStore
from pacsklearn.kernel.answers.responder import Responder

# Answers kept one by one, where looking one up is fastest, before they become a run of arrays.
_RECENT: Final = 2**16
_DIGEST: Final = np.dtype([("high", ">u8"), ("low", ">u8")])


def row_keys(X: Any) -> list[bytes]:
    """Return the digest of each row: equal for rows of equal values, types and column names.

    Parameters
    ----------
    X : ndarray, sparse matrix or DataFrame of shape (n, p)

    Returns
    -------
    list of n bytes
        128-bit digests.
    """
    if sparse.issparse(X):
        return _sparse_keys(X)
    if hasattr(X, "columns"):
        parts = [X.iloc[:, i] if hasattr(X, "iloc") else X[:, i] for i in range(X.shape[1])]
        names = [(name, str(part.dtype)) for name, part in zip(X.columns, parts, strict=True)]
        columns = [_with_one_zero(np.asarray(part.to_numpy())) for part in parts]
    else:
        values = np.asarray(X)
        names, columns = [("", values.dtype.str)], [_with_one_zero(values)]
    header = repr(names).encode()
    if all(column.dtype.kind in "biuf" for column in columns):
        return _numeric_keys(header, columns)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    # repr keeps 1, 1.0, True and "1" apart, which a model may read differently.
    return [_digest(header, repr(row).encode()) for row in rows]


def _numeric_keys(header: bytes, columns: list[NDArray[Any]]) -> list[bytes]:
    """Return each column in its own type: an integer beyond 2^53 is no double."""
    parts = []
    for column in columns:
        width = column.dtype.itemsize * (column.size // max(len(column), 1))
        flat = np.ascontiguousarray(column).reshape(-1)
        parts.append(flat.view(np.uint8).reshape(len(column), width))
    table = np.ascontiguousarray(np.concatenate(parts, axis=1))
    return [_digest(header, row.tobytes()) for row in table]


def _with_one_zero(column: NDArray[Any]) -> NDArray[Any]:
    """Add zero, which turns -0.0 into 0.0: every model reads both alike."""
    return column + column.dtype.type(0) if column.dtype.kind == "f" else column


def _sparse_keys(X: Any) -> list[bytes]:
    rows = X.tocsr(copy=True)
    # Stored zeros and entries in several parts are read as the same row by every model.
    rows.sum_duplicates()
    rows.eliminate_zeros()
    header = f"sparse {rows.dtype.str} {rows.shape[1]}".encode()
    parts = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    return [
        _digest(header, rows.indices[a:b].astype(np.int64).tobytes() + rows.data[a:b].tobytes())
        for a, b in parts
    ]


def _digest(header: bytes, content: bytes) -> bytes:
    # The length first: no end of a header can be taken for the beginning of a row.
    return hashlib.blake2b(
        len(header).to_bytes(8, "little") + header + content, digest_size=16
    ).digest()


@final
@dataclass(frozen=True, eq=False)
class AnswerRun:
    """Answers sorted by their keys, as arrays: 28 bytes a label.

    Parameters
    ----------
    high, low : ndarray of uint64, shape (n,)
        Halves of the queries' digests; ``high`` does not fall.
    values : ndarray of shape (n,) or (n, width)
    margins : ndarray of shape (n,)
    """

    high: NDArray[np.uint64] = field(repr=False)
    low: NDArray[np.uint64] = field(repr=False)
    values: NDArray[Any] = field(repr=False)
    margins: NDArray[np.float64] = field(repr=False)

    def __len__(self) -> int:
        return len(self.high)

    @classmethod
    def of(cls, stored: dict[bytes, tuple[Any, float]]) -> AnswerRun:
        """Return the run of answers by key."""
        high, low = _halves(list(stored))
        values = np.asarray([value for value, _ in stored.values()])
        margins = np.asarray([margin for _, margin in stored.values()], dtype=np.float64)
        return cls(high, low, values, margins)._sorted()

    def merged(self, other: AnswerRun) -> AnswerRun:
        """Merge both runs into one."""
        return AnswerRun(
            np.concatenate([self.high, other.high]),
            np.concatenate([self.low, other.low]),
            np.concatenate([self.values, other.values]),
            np.concatenate([self.margins, other.margins]),
        )._sorted()

    def places(self, high: NDArray[np.uint64], low: NDArray[np.uint64]) -> NDArray[np.intp]:
        """Return where keys stand; -1 for one that does not."""
        place = np.searchsorted(self.high, high)
        places = np.full(len(high), -1, dtype=np.intp)
        open_ = np.arange(len(high))
        while open_.size:  # two digests that share one half are next to each other
            at = place[open_]
            inside = at < len(self.high)
            open_, at = open_[inside], at[inside]
            same = self.high[at] == high[open_]
            open_, at = open_[same], at[same]
            right = self.low[at] == low[open_]
            places[open_[right]] = at[right]
            open_ = open_[~right]
            place[open_] += 1
        return places

    def _sorted(self) -> AnswerRun:
        order = np.argsort(self.high, kind="stable")
        return AnswerRun(self.high[order], self.low[order], self.values[order], self.margins[order])


@final
class StoredAnswers(AnswerStore):
    """Answers by the digest of the query.

    Recent ones are held in a dictionary; older ones in sorted arrays, each at least twice as long
    as the next, so that there are few and adding is cheap on average.

    Parameters
    ----------
    keys : callable, default=row_keys
        ``keys(X)`` gives 16 bytes for each query, the same for the same query.
    """

    def __init__(self, keys: Callable[[Any], list[bytes]] = row_keys) -> None:
        self._named = keys
        self._recent: dict[bytes, tuple[Any, float]] = {}
        self._runs: list[AnswerRun] = []

    def keys(self, X: Any) -> list[bytes]:
        return self._named(X)

    def __len__(self) -> int:
        return len(self._recent) + sum(len(run) for run in self._runs)

    def add(
        self,
        keys: Sequence[bytes],
        values: Sequence[Any],
        margins: Sequence[float],
        n_charged: int = 0,  # a session file holds the belief
        log_belief: NDArray[np.float64] | None = None,
    ) -> None:
        self._recent.update(zip(keys, zip(values, margins, strict=True), strict=True))
        if len(self._recent) >= _RECENT:
            run, self._recent = AnswerRun.of(self._recent), {}
            while self._runs and len(self._runs[-1]) < 2 * len(run):
                run = self._runs.pop().merged(run)
            self._runs.append(run)

    def missing(self, keys: Sequence[bytes]) -> list[int]:
        first: dict[bytes, int] = {}
        for i, key in enumerate(keys):
            if key not in self._recent:
                first.setdefault(key, i)
        if not (self._runs and first):
            return list(first.values())
        open_ = list(first)
        high, low = _halves(open_)
        known = np.zeros(len(open_), dtype=bool)
        for run in self._runs:
            known |= run.places(high, low) >= 0
        return [first[key] for key, is_known in zip(open_, known, strict=True) if not is_known]

    def answers(self, keys: Sequence[bytes]) -> tuple[list[Any], list[float]]:
        values: list[Any] = [None] * len(keys)
        margins = [math.nan] * len(keys)
        older = []
        for i, key in enumerate(keys):
            recent = self._recent.get(key)
            if recent is None:
                older.append(i)
            else:
                values[i], margins[i] = recent
        if older:
            high, low = _halves([keys[i] for i in older])
            for run in self._runs:
                places = run.places(high, low)
                for here in np.flatnonzero(places >= 0):
                    values[older[here]] = run.values[places[here]]
                    margins[older[here]] = float(run.margins[places[here]])
        return values, margins

    def export(self) -> tuple[AnswerRun, ...]:
        """Return everything as arrays, for a session file."""
        return (*self._runs, *([AnswerRun.of(self._recent)] if self._recent else []))

    def restore(self, runs: Sequence[AnswerRun]) -> None:
        """Take over what :meth:`export` gave."""
        self._recent, self._runs = {}, list(runs)


def _halves(keys: Sequence[bytes]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    digests = np.frombuffer(b"".join(keys), dtype=_DIGEST)
    return digests["high"].astype(np.uint64), digests["low"].astype(np.uint64)


@final
@dataclass(frozen=True, eq=False)
class ResponderState:
    """What a responder remembers; its answers are public, its queries need not be.

    Parameters
    ----------
    step_budget : float
    n_answered, n_contested : int
    stored : tuple of AnswerRun
        Answers and margins by the digest of the query.
    """

    step_budget: float
    n_answered: int
    n_contested: int
    stored: tuple[AnswerRun, ...] = field(repr=False)

    @classmethod
    def of(cls, responder: Responder) -> Self:
        """Return what a responder has answered; answers in a ledger stay there."""
        runs = responder.store.export()
        return cls(responder.step_budget, responder.n_answered, responder.n_contested, runs)

    def restore(self, responder: Responder) -> None:
        """Have a responder take over what :meth:`of` gave."""
        responder.n_answered, responder.n_contested = self.n_answered, self.n_contested
        responder.store.restore(self.stored)
