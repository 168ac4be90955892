"""Where a table's batches come from: each opening reads it from the beginning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol, final

import numpy as np

from pacsklearn.exceptions import TableError

__all__ = ["ArraySource", "IterableSource", "ParquetSource", "Raw", "Source", "source_of"]

Raw = dict[str, Any]
"""Columns of one batch by name, each an array; ``None`` for all features of an unnamed array."""


class Source(Protocol):
    """Batches of columns, again and again the same.

    Attributes
    ----------
    names : tuple of str or None
        Columns; None where they have no names, or are known only once a batch was read.
    n_parts : int
        Pieces that can be read by themselves, by workers elsewhere.
    """

    names: tuple[str, ...] | None
    n_parts: int

    def read(self, part: int, rows: int) -> Iterator[Any]:
        """Batches of about ``rows`` rows of one piece: record batches, data frames or arrays."""
        ...


@final
class ParquetSource:
    """A Parquet file, or a folder of them; a file is a piece.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        dataset = self._open()
        self._files = tuple(dataset.files)
        self.names: tuple[str, ...] | None = tuple(dataset.schema.names)
        self.n_parts = len(self._files)
        if not self._files:
            raise TableError(f"{path} holds no Parquet file.")

    def _open(self, files: Any = None) -> Any:
        try:
            from pyarrow import dataset
        except ImportError:
            raise TableError(
                "Reading Parquet needs pyarrow: pip install 'pacsklearn[tables]'."
            ) from None
        try:
            return dataset.dataset(files or str(self.path), format="parquet")
        except (OSError, ValueError) as error:
            raise TableError(
                f"{self.path} cannot be read as Parquet ({type(error).__name__})."
            ) from None

    def read(self, part: int, rows: int) -> Iterator[Any]:
        """Record batches of one file, read little ahead so that few are in memory."""
        opened = self._open([self._files[part]])
        yield from opened.to_batches(
            columns=list(self.names or ()),
            batch_size=rows,
            batch_readahead=1,
            fragment_readahead=1,
        )


@final
class ArraySource:
    """An array in memory or mapped from a file, or a data frame.

    Parameters
    ----------
    array : ndarray, memmap or DataFrame of shape (n_rows, n_columns)
    """

    n_parts = 1

    def __init__(self, array: Any) -> None:
        self.array = array
        columns = getattr(array, "columns", None)
        self.names: tuple[str, ...] | None = None if columns is None else tuple(map(str, columns))

    def read(self, part: int, rows: int) -> Iterator[Any]:
        """Slices of it."""
        cut = getattr(self.array, "iloc", self.array)
        for start in range(0, len(self.array), rows):
            yield cut[start : start + rows]


@final
class IterableSource:
    """Whatever a function makes anew at each call.

    Parameters
    ----------
    make : callable
        Returns an iterator over record batches, data frames or arrays, each time from the first.
    """

    names: tuple[str, ...] | None = None
    n_parts = 1

    def __init__(self, make: Callable[[], Iterator[Any]]) -> None:
        self.make = make

    def read(self, part: int, rows: int) -> Iterator[Any]:
        """What the function yields."""
        yield from self.make()


def source_of(given: Any) -> Source:
    """Source of a user's argument."""
    if isinstance(given, (str, Path)):
        if not Path(given).exists():
            raise TableError(f"source: there is no file or folder {given}.")
        return ParquetSource(Path(given))
    if getattr(given, "ndim", None) == 2:
        return ArraySource(given)
    if callable(given):
        return IterableSource(given)
    if hasattr(given, "__next__"):
        raise TableError(
            "source is an iterator, which can be read once; fits need several passes. Give a "
            "function that makes a new one at each call, as in Table(lambda: batches())."
        )
    what = type(given).__name__ if not isinstance(given, np.ndarray) else f"{given.ndim}d array"
    raise TableError(
        "source must be the path of a Parquet file or folder, a two-dimensional array or data "
        f"frame, or a function that returns an iterator of batches; got {what}."
    )
