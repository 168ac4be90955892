"""Sizes of a table and a sample of its rows, from one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.tables.table_reader import Batch

__all__ = ["ProfilePiece", "TableProfile"]

_SAMPLE = 2**17
_FEWEST = 2**13
_CELLS = 2**23
_OF_A_BATCH = 2**13
_MOST_CLASSES = 1000


@final
class ProfilePiece:
    """What is kept of the batches of one piece of a table; secret material."""

    def __init__(self, *, grouped: bool) -> None:
        self.grouped = grouped
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
        if sum(len(one.rows) for one in self.kept) > 2 * _most(batch):
            joined = _joined(self.kept)
            self.kept, self.stride = [Batch(*(_cut(part, 2) for part in joined))], 2 * self.stride
        self.n_rows += n
        if self.grouped:
            self.names.append(np.unique(batch.names))
        if batch.target is not None and self.n_values <= _MOST_CLASSES:
            known = batch.target if self.values is None else _both(self.values, batch.target)
            self.values = np.unique(known)
            self.n_values = len(self.values)


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
        """Profile of all pieces."""
        n_rows = sum(piece.n_rows for piece in pieces)
        # As many of each piece as it has rows, evenly spaced.
        kept = []
        for piece in pieces:
            if piece.kept:
                wanted = max(1, _most(piece.kept[0]) * piece.n_rows // n_rows)
                own = _joined(piece.kept)
                stride = -(-len(own.rows) // wanted)
                kept.append(Batch(*(_cut(part, stride) for part in own)))
        sample = _joined(kept)
        n_units = n_rows
        if unit != "row":
            n_units = int(np.unique(np.concatenate(_all_names(pieces))).size)
        values: NDArray[Any] | None = None
        for piece in pieces:
            if piece.values is not None:
                values = piece.values if values is None else np.unique(_both(values, piece.values))
        if values is not None and len(values) > _MOST_CLASSES:
            values = None
        return cls(n_rows, n_units, sample, values)


def _all_names(pieces: Sequence[ProfilePiece]) -> list[NDArray[np.uint64]]:
    return [names for piece in pieces for names in piece.names]


def _both(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([left, right])


def _most(batch: Batch) -> int:
    """Rows of a sample that stays small beside a few batches."""
    return int(np.clip(_CELLS // max(batch.rows.shape[1], 1), _FEWEST, _SAMPLE))


def _cut(part: Any, stride: int) -> Any:
    return None if part is None else part[::stride]


def _joined(batches: Sequence[Batch]) -> Batch:
    rows, targets, names = zip(*batches, strict=True)
    target = None if targets[0] is None else np.concatenate(targets)
    return Batch(np.concatenate(rows), target, np.concatenate(names))
