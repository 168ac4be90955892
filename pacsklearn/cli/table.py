"""Tables in CSV and Parquet files."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import pandas as pd

__all__ = ["Table", "read_table"]

# What is looked at to find the separator; commas first, so that they win where both would do.
_HEAD, _LINES, _SEPARATORS = 2**16, 50, (",", ";", "\t", "|")


@final
@dataclass(frozen=True, eq=False)
class Table:
    """Rows, targets and units of privacy of a file.

    Parameters
    ----------
    X : DataFrame of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,) or None
    groups : ndarray of shape (n_rows,) or None
    """

    X: Any
    y: Any
    groups: Any

    def __repr__(self) -> str:
        return f"Table({self.X.shape[0]} rows, {self.X.shape[1]} features)"


def read_table(
    path: Path,
    target: str | None = None,
    groups: str | None = None,
    *,
    drop: Sequence[str] = (),
    identifier: str | None = None,
) -> Table:
    """Read a table; the first line of a CSV file names its columns.

    Parameters
    ----------
    path : Path
        CSV, whose separator and encoding are found by its first lines, or Parquet.
    target, groups : str, optional
        Columns with the targets and the units of privacy.
    drop : sequence of str, default=()
        Columns that are not used.
    identifier : str, optional
        Column that names rows: not used, and refused where a name repeats.

    Raises
    ------
    ValueError
        When the file is no such table or has no such column. No cell is quoted, nor a column's
        name: in a file without a header the first row of data would be taken for names.
    """
    frame = _frame(path)
    taken: dict[str, Any] = {}
    roles = [("target", target), ("groups", groups), ("id", identifier)]
    for role, name in [*roles, *(("drop", one) for one in drop)]:
        if name is None:
            taken[role] = None
            continue
        if name not in frame.columns:
            raise ValueError(
                f"{role}: {path.name} has no column {name!r} among its {frame.shape[1]} columns; "
                "the first line must name them."
            )
        column = frame.pop(name)
        if role == "id" and groups is None and column.duplicated().any():
            raise ValueError(
                f"id: some rows of {path.name} have the same {name!r}. If these are rows of one "
                f"person, protect the person: --groups {name}; otherwise --drop {name}."
            )
        taken[role] = None if role in ("id", "drop") else _plain(column)
    if frame.shape[1] == 0:
        raise ValueError(f"{path.name} has no columns left for the features.")
    return Table(frame, taken["target"], taken["groups"])


def _frame(path: Path) -> Any:
    suffix = path.suffix.lower()
    if suffix not in {".csv", ".tsv", ".parquet", ".pq"}:
        raise ValueError(f"data must be a .csv, .tsv or .parquet file, got {path.name!r}.")
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    try:
        if suffix in {".parquet", ".pq"}:
            return pd.read_parquet(path)
        encoding = _encoding(path)
        with path.open(encoding=encoding, newline="") as file:
            return pd.read_csv(path, encoding=encoding, sep=_separator(file.read(_HEAD)))
    except ImportError:
        raise ValueError("Parquet files need pyarrow: pip install pyarrow.") from None
    except Exception as error:  # noqa: BLE001 - whatever a parser says may quote cells
        raise ValueError(
            f"{path.name} cannot be read as a table ({type(error).__name__}; the message is "
            "withheld, since it may quote cells)."
        ) from None


def _encoding(path: Path) -> str:
    """UTF-8 or UTF-16 where the file is that, otherwise what spreadsheets on Windows write."""
    data = path.read_bytes()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


def _separator(head: str) -> str:
    """The separator that cuts the first lines into the same number of cells, more than one."""
    lines = [line for line in head.splitlines()[:_LINES] if line]
    # The last one may be cut off.
    lines = lines[:-1] if len(lines) > 2 else lines
    best, most = ",", 1
    for separator in _SEPARATORS:
        widths = {len(row) for row in csv.reader(lines, delimiter=separator)}
        if len(widths) == 1 and (width := widths.pop()) > most:
            best, most = separator, width
    return best


def _plain(column: Any) -> Any:
    values = column.to_numpy()
    if values.dtype.kind in "biuf":
        return values
    if column.isna().any():
        raise ValueError("The target or the groups have missing values; leave those rows out.")
    return np.asarray(column.astype(str).to_numpy(), dtype=str)
