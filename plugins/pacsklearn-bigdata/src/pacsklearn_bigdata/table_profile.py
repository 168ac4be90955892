"""Sizes of a table and a sample of its rows, from one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn_bigdata.table_reader import Batch

_SAMPLE = 2**17
_FEWEST = 2**13
_CELLS = 2**23
_OF_A_BATCH = 2**13
_UNEVEN = 16
_MOST_CLASSES = 1000


@final
class ProfilePiece:
    """What is kept of the batches of one piece of a table; secret material."""

    def __init__(self, *, grouped: bool, n_parts: int) -> None:
        self.grouped, self.n_parts = grouped, n_parts
        self.n_rows, self.stride = 0, 1
        self.kept: list[Batch] = []
        self.names: list[NDArray[np.uint64]] = []
        self.values: NDArray[Any] | None = None
        self.n_values = 0

    def see(self, batch: Batch) -> None:
        """Keep evenly spaced rows, the names of the units and the values of the target."""
        n = len(batch.rows)
        chosen = np.linspace(0, n - 1, min(n, _OF_A_BATCH)).astype(np.intp)[:: self.stride]
        target = None if batch.target is None else batch.target[chosen]
        self.kept.append(Batch(batch.rows[chosen], target, batch.names[chosen]))
        # Of many pieces no one travels with a whole sample, unless nearly all rows are in a few.
        own = _most(batch) * min(1.0, _UNEVEN / self.n_parts)
        if self.n_kept > 2 * max(own, _FEWEST):
            self.halve()
        self.n_rows += n
        if self.grouped:
            self.names.append(np.unique(batch.names))
        if batch.target is not None and self.n_values <= _MOST_CLASSES:
            known = [batch.target] if self.values is None else [self.values, batch.target]
            self.values = np.unique(np.concatenate(known))
            self.n_values = len(self.values)

    @property
    def n_kept(self) -> int:
        """Rows kept so far."""
        return sum(len(one.rows) for one in self.kept)

    def halve(self) -> None:
        """Keep every second of the rows kept."""
        # A copy: a view would keep all of them in memory.
        self.kept = [_joined([_every(2, _joined(self.kept))])]
        self.stride *= 2

    @staticmethod
    def thin(pieces: Sequence[ProfilePiece]) -> None:
        """Keep a few samples' worth of all pieces so far, of each by its rows."""
        kept = [piece for piece in pieces if piece.kept]
        if not kept or sum(piece.n_kept for piece in kept) <= 4 * _most(kept[0].kept[0]):
            return
        n_rows = sum(piece.n_rows for piece in kept)
        for piece in kept:
            while piece.n_kept >= 2 * _share(piece, n_rows) and piece.n_kept > 1:
                piece.halve()


@final
@dataclass(frozen=True, eq=False)
class TableProfile:
    """Sizes of a table, and rows spread over it; secret material.

    Parameters
    ----------
    n_rows, n_units : int
    sample : Batch
        At most 131,072 rows, fewer of many columns.
    values : ndarray or None
        Values of the target; None where there are none, or more than a thousand.
    """

    n_rows: int
    n_units: int
    sample: Batch = field(repr=False)
    values: NDArray[Any] | None = field(repr=False)

    @classmethod
    def of(cls, pieces: Sequence[ProfilePiece], unit: str) -> Self:
        """Return the profile of all pieces."""
        n_rows = sum(piece.n_rows for piece in pieces)
        # As many of each piece as it has rows, evenly spaced.
        kept = []
        for piece in pieces:
            if piece.kept:
                own = _joined(piece.kept)
                stride = -(-len(own.rows) // _share(piece, n_rows))
                kept.append(_every(stride, own))
        sample = _joined(kept)
        n_units = n_rows
        if unit != "row":
            names = [each for piece in pieces for each in piece.names]
            n_units = np.unique(np.concatenate(names)).size
        known = [piece.values for piece in pieces if piece.values is not None]
        values = np.unique(np.concatenate(known)) if known else None
        if values is not None and len(values) > _MOST_CLASSES:
            values = None
        return cls(n_rows, n_units, sample, values)


def _most(batch: Batch) -> int:
    """Return the rows of a sample that stays small beside a few batches."""
    return int(np.clip(_CELLS // max(batch.rows.shape[1], 1), _FEWEST, _SAMPLE))


def _every(stride: int, batch: Batch) -> Batch:
    rows, target, names, _ = batch
    few = None if target is None else target[::stride]
    return Batch(rows[::stride], few, names[::stride])


def _share(piece: ProfilePiece, n_rows: int) -> int:
    """Return the rows of a piece that belong into a sample of all."""
    return max(1, _most(piece.kept[0]) * piece.n_rows // n_rows)


def _joined(batches: Sequence[Batch]) -> Batch:
    rows, targets, names, _ = zip(*batches, strict=True)
    target = None if targets[0] is None else np.concatenate(targets)
    return Batch(np.concatenate(rows), target, np.concatenate(names))
