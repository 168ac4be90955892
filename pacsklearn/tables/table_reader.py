"""Batches of a table's rows, as doubles, with their targets and the names of their units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.exceptions import TableError
from pacsklearn.information.arrays import Floats
from pacsklearn.tables.hashed_design import unit_names
from pacsklearn.tables.sources import Source

__all__ = ["Batch", "TableReader"]

_PART = 40
"""Bits of a row's name that number it within its piece."""


@final
class Batch(NamedTuple):
    """Rows of a table; secret material.

    Attributes
    ----------
    rows : ndarray of shape (n, p)
        Doubles, finite.
    target : ndarray of shape (n,) or None
    names : ndarray of uint64, shape (n,)
        Of the units that the rows belong to.
    """

    rows: Floats
    target: NDArray[Any] | None
    names: NDArray[np.uint64]


@final
@dataclass(frozen=True, eq=False)
class TableReader:
    """Which columns of a source are what; what a worker elsewhere needs to read a piece.

    Parameters
    ----------
    source : Source
    target, unit : str, int or None
    features : sequence of str or int, or None
    batch_rows : int
    """

    source: Source
    target: str | int | None
    unit: str | int | None
    features: Sequence[str | int] | None
    batch_rows: int

    def __post_init__(self) -> None:
        names = self.source.names
        if names is not None:
            for role, given in (("target", self.target), ("unit", self.unit)):
                self._position(role, given, names)
            self._chosen(names, len(names))

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features; None where the source has none."""
        names = self.source.names
        return None if names is None else tuple(names[i] for i in self._chosen(names, len(names)))

    def batches(self, part: int) -> Iterator[Batch]:
        """Batches of one piece, none empty."""
        at = 0
        for raw in self.source.read(part, self.batch_rows):
            batch = self._batch(raw, (part << _PART) + at)
            at += len(batch.rows)
            if len(batch.rows):
                yield batch

    def _batch(self, raw: Any, first: int) -> Batch:
        names, column = _columns(raw)
        width = len(names) if names is not None else int(np.shape(raw)[1])
        chosen = self._chosen(names, width)
        rows = np.empty((len(raw), len(chosen)))
        for place, position in enumerate(chosen):
            rows[:, place] = _numbers(column(position), names, position)
        target = self._position("target", self.target, names)
        unit = self._position("unit", self.unit, names)
        if unit is None:
            own = np.arange(first, first + len(rows), dtype=np.uint64)
        else:
            own = unit_names(column(unit))
        return Batch(rows, None if target is None else np.asarray(column(target)), own)

    def _chosen(self, names: Sequence[str] | None, width: int) -> list[int]:
        if self.features is not None:
            found = [self._position("features", one, names) for one in self.features]
            return [position for position in found if position is not None]
        apart = {self._position(role, getattr(self, role), names) for role in ("target", "unit")}
        return [position for position in range(width) if position not in apart]

    def _position(self, role: str, given: Any, names: Sequence[str] | None) -> int | None:
        if given is None or (isinstance(given, int) and not isinstance(given, bool)):
            return given
        if names is None:
            raise TableError(
                f"{role}={given!r}: the columns of this source have no names; give positions."
            )
        if given not in names:
            shown = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
            raise TableError(f"{role}={given!r} is no column of the source, which has {shown}.")
        return names.index(given)


def _columns(raw: Any) -> tuple[list[str] | None, Callable[[int], Any]]:
    """Names of a batch's columns, and how to take one as an array."""
    if hasattr(raw, "schema") and hasattr(raw, "column"):  # pyarrow
        return list(raw.schema.names), lambda i: raw.column(i).to_numpy(zero_copy_only=False)
    if hasattr(raw, "iloc"):
        return list(map(str, raw.columns)), lambda i: raw.iloc[:, i].to_numpy()
    if getattr(raw, "ndim", None) == 2:
        return None, lambda i: raw[:, i]
    raise TableError(
        "A batch must be a pyarrow.RecordBatch, a data frame or a two-dimensional array, got "
        f"{type(raw).__name__}."
    )


def _numbers(values: Any, names: Sequence[str] | None, position: int) -> Floats:
    name = position if names is None else repr(names[position])
    column = np.asarray(values)
    if column.dtype.kind not in "biuf":
        raise TableError(
            f"Column {name} does not hold numbers. Encode it where the table is made, or leave it "
            "out with features=."
        )
    numbers = column.astype(np.float64)
    if not np.all(np.abs(numbers) <= 1e100):
        raise TableError(
            f"Column {name} holds a missing, infinite or huge value. Fill it in where the table is "
            "made, or leave the column out with features=."
        )
    return numbers
