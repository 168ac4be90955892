"""Batches of a table's rows, as doubles, with their targets and the names of their units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import is_whole
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.universe.frame import is_missing
from pacsklearn_bigdata.exceptions import TableError
from pacsklearn_bigdata.hashed_design import unit_names
from pacsklearn_bigdata.sources import Source

N_TRACES = 3
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
    columns : tuple
        Names of the source's columns, or how many there are, and whether unit and target are texts:
        the same for all batches.
    """

    rows: Floats
    target: NDArray[Any] | None
    names: NDArray[np.uint64]
    columns: tuple[Any, bool, bool] = (None, False, False)

    def trace(self) -> NDArray[np.uint64]:
        """Return sums of 64 bits a row: of its unit, of its features and of its target.

        The others change as well when rows change units.
        """
        odd = np.uint64(2) * self.names + np.uint64(1)
        bits = [self.names[:, None], self.rows.view(np.uint64)]
        if self.target is not None:
            bits.append(_target_bits(self.target)[:, None])
        sums = np.zeros(N_TRACES, dtype=np.uint64)
        sums[: len(bits)] = [(_words(each) * odd).sum() for each in bits]
        return sums


def _target_bits(target: NDArray[Any]) -> NDArray[np.uint64]:
    if target.dtype.kind in "biuf":
        return target.astype(np.float64).view(np.uint64)
    values, codes = np.unique(target, return_inverse=True)
    return unit_names(values.astype(str))[codes]


def _words(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 64 bits a row."""
    # The upper halves are folded down first: whole numbers have no bits in the lower ones.
    factors = np.random.default_rng(0).integers(2**64, size=bits.shape[1], dtype=np.uint64)
    words: NDArray[np.uint64] = (bits ^ (bits >> np.uint64(32))) @ (factors | np.uint64(1))
    return words ^ (words >> np.uint64(32))


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
    only_units : bool
        Whether rows are read without features and target.
    """

    source: Source
    target: str | int | None
    unit: str | int | None
    features: Sequence[str | int] | None
    batch_rows: int
    only_units: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.features, str) or (self.features is not None and not len(self.features)):
            raise TableError(
                f"features must be a list of columns, at least one, got {self.features!r}."
            )
        if (names := self.source.names) is not None:
            # By name, as batches need not have all columns.
            features, target, unit = self._roles(names, len(names))
            object.__setattr__(self, "features", tuple(names[i] for i in features))
            object.__setattr__(self, "target", None if target is None else names[target])
            object.__setattr__(self, "unit", None if unit is None else names[unit])

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features; None where the source has none."""
        return None if self.source.names is None else tuple(map(str, self.features or ()))

    def batches(self, part: int) -> Iterator[Batch]:
        """Yield the batches of one piece, none empty."""
        at = 0
        used = [*(self.features or ()), self.target, self.unit]
        columns = [str(one) for one in used if one is not None]
        for raw in self.source.read(part, self.batch_rows, columns):
            # Rows that are their own units: numbers that no other part can have.
            batch = self._batch(raw, (part << _PART) + at)
            if batch is not None:
                at += len(batch.rows)
                yield batch

    def _batch(self, raw: Any, first: int) -> Batch | None:
        names, width, column = _columns(raw)
        chosen, target, unit = self._roles(names, width)
        if not len(raw):  # its columns may have any type: there is no value in them
            return None
        rows = np.empty((len(raw), len(chosen)))
        for place, position in enumerate(chosen):
            rows[:, place] = _numbers(column(position), names, position)
        texts = False
        if unit is None:
            own = np.arange(first, first + len(rows), dtype=np.uint64)
        else:
            units = _unmasked(column(unit))
            own, texts = unit_names(units), units.dtype.kind not in "iub"
        targets = None if target is None else _targets(column(target))
        of_texts = targets is not None and isinstance(targets[0], str)
        signature = (width if names is None else tuple(names), texts, of_texts)
        return Batch(rows, targets, own, signature)

    def _roles(
        self, names: Sequence[str] | None, width: int
    ) -> tuple[list[int], int | None, int | None]:
        """Return the positions of the features, of the target and of the unit, as far as read."""
        if names is not None and len(set(names)) < len(names):
            twice = sorted({name for name in names if list(names).count(name) > 1})
            raise TableError(
                f"Several columns of the source are named {twice[0]!r}; give each its own name."
            )
        unit = None if self.unit is None else self._given("unit", self.unit, names, width)
        if self.only_units:
            return [], None, unit
        target = None
        if self.target is not None:
            target = self._given("target", self.target, names, width)
        if target is not None and target == unit:
            raise TableError("target and unit are one and the same column.")
        apart = {target, unit}
        if self.features is None:
            chosen = [position for position in range(width) if position not in apart]
            if not chosen:
                raise TableError("The source has no column beside target and unit to fit on.")
            return chosen, target, unit
        chosen = [self._given("features", one, names, width) for one in self.features]
        for role, position in (("target", target), ("unit", unit)):
            if position in chosen:
                raise TableError(f"The column of {role}= is among features=; leave it out there.")
        if len(set(chosen)) < len(chosen):
            raise TableError("features names a column more than once.")
        return chosen, target, unit

    def _given(self, role: str, given: Any, names: Sequence[str] | None, width: int) -> int:
        """Return position of a column that the user names; from the end where it is negative."""
        if is_whole(given):
            if not -width <= given < width:
                raise TableError(
                    f"{role}={given} is no column of the source, which has {width} of them."
                )
            return int(given) % width
        if names is None:
            raise TableError(
                f"{role}={given!r}: the columns of this source have no names; give positions."
            )
        if given not in names:
            shown = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
            raise TableError(f"{role}={given!r} is no column of the source, which has {shown}.")
        return list(names).index(given)


def _columns(raw: Any) -> tuple[list[str] | None, int, Callable[[int], Any]]:
    """Return names of a batch's columns, how many there are, and how to take one as an array."""
    if hasattr(raw, "schema") and hasattr(raw, "column"):  # pyarrow
        names = list(raw.schema.names)
        return names, len(names), lambda i: raw.column(i).to_numpy(zero_copy_only=False)
    if hasattr(raw, "iloc") and hasattr(raw, "columns"):
        names = list(map(str, raw.columns))
        return names, len(names), lambda i: raw.iloc[:, i].to_numpy()
    if isinstance(raw, np.ndarray) and raw.ndim == 2:
        return None, int(raw.shape[1]), lambda i: raw[:, i]
    raise TableError(
        "A batch must be a pyarrow.RecordBatch, a data frame of pandas or a two-dimensional "
        f"array, got {type(raw).__module__.partition('.')[0]}.{type(raw).__name__}."
    )


def _targets(values: Any) -> NDArray[Any]:
    """Return the target of a batch.

    One of texts or objects misses no value and holds one kind of them.
    """
    column = _unmasked(values)
    if column.dtype.kind == "f" and np.isnan(column).any():
        raise TableError("target misses a value. Fill it in, or drop its row, in the source.")
    if column.dtype.kind == "O":
        kinds = {type(value) for value in column.tolist()}
        if any(map(is_missing, column.tolist())):
            raise TableError("target misses a value. Fill it in, or drop its row, in the source.")
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        if len(kinds) > 1:
            raise TableError(f"target holds values of several kinds ({names}); make them one.")
        if kinds != {str}:
            raise TableError(f"target must hold numbers or texts, got objects of the type {names}.")
    return column


def _unmasked(values: Any) -> NDArray[Any]:
    """Return an array; what is masked in it is missing."""
    if np.ma.is_masked(values):
        column: NDArray[Any] = np.array(np.ma.getdata(values), dtype=object)
        column[np.ma.getmaskarray(values)] = None
        return column
    return np.asarray(values)


def _numbers(values: Any, names: Sequence[str] | None, position: int) -> Floats:
    name = position if names is None else repr(names[position])
    column = _unmasked(values)
    if column.dtype.kind == "O" and any(value is None for value in column.tolist()):
        raise TableError(
            f"Column {name} misses a value, or does not hold numbers. Fill it in where the table "
            "is made, or leave the column out with features=."
        )
    if column.dtype.kind not in "biuf":
        raise TableError(
            f"Column {name} does not hold numbers. Encode it where the table is made, or leave it "
            "out with features=."
        )
    numbers = column.astype(np.float64)
    # Squares and their sums stay finite; NaN fails the comparison as well.
    if not np.all(np.abs(numbers) <= 1e100):
        raise TableError(
            f"Column {name} holds a missing, infinite or huge value. Fill it in where the table is "
            "made, or leave the column out with features=."
        )
    return numbers
