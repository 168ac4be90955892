"""Tables in CSV and Parquet files."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, final

import numpy as np
import pandas as pd

# What is looked at to find the separator; commas first, so that they win where both would do.
_HEAD, _LINES, _SEPARATORS = 2**16, 50, (",", ";", "\t", "|")
_WHERE = re.compile(r"Expected \d+ fields in line \d+, saw \d+|EOF inside string .* row \d+")
_WHY = {"EmptyDataError": "it is empty", "UnicodeDecodeError": "save it as UTF-8"}
_WITHHELD = "the message is withheld, since it may quote cells"
_MISSING = ["?"]
"""Beside what pandas takes for missing: what many public tables write."""


@final
@dataclass(frozen=True, eq=False, repr=False)
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
        CSV, whose separator, decimal sign and encoding are found by its first lines and which may
        be packed (``.gz``), or Parquet. An empty cell and ``?`` are missing values.
    target, groups : str, optional
        Columns with the targets and the units of privacy.
    drop : sequence of str, default=()
        Columns that are not used.
    identifier : str, optional
        Column that names rows: not used, and refused where a name repeats.

    Raises
    ------
    ValueError
        When the file is no such table or has no such column. No cell is quoted, and names only
        where the first line looks like a header and one is nearly what was typed: in a file
        without a header the first row of data would be taken for names.
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
                f"the first line must name them.{_meant(name, frame.columns)}"
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


def _meant(name: str, columns: Any) -> str:
    """Return the names that look like the one typed; nothing where the first line may be a row."""
    known = [str(column) for column in columns]
    if any(_is_cell(column) for column in known):
        return ""
    alike = get_close_matches(name, known, n=3, cutoff=0.7)
    alike = alike or [column for column in known if column.lower() == name.lower()]
    # A blank at an end is seen between quotes alone.
    shown = [column if column == column.strip() else repr(column) for column in alike]
    return f" Did you mean {' or '.join(shown)}?" if alike else ""


def _is_cell(column: str) -> bool:
    """Return whether a name is a number, or is one that pandas makes up."""
    return column.startswith("Unnamed:") or not column.strip() or any(map(str.isdigit, column[:1]))


def _frame(path: Path) -> Any:
    suffix = path.suffix.lower()
    is_packed = suffix == ".gz"
    if is_packed:
        suffix = path.with_suffix("").suffix.lower()
    if suffix not in {".csv", ".tsv", ".txt"} | ({".parquet", ".pq"} if not is_packed else set()):
        raise ValueError(
            "data must be a .csv, .tsv or .txt file, such a file packed as .gz, or a .parquet "
            f"file, got {path.name!r}."
        )
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    try:
        if suffix in {".parquet", ".pq"}:
            frame = pd.read_parquet(path)
            # pandas puts columns that it wrote as an index back into one, where no row is read.
            return frame.reset_index([name for name in frame.index.names if name is not None])
        data = gzip.decompress(path.read_bytes()) if is_packed else path.read_bytes()
        encoding = _encoding(data)
        with io.TextIOWrapper(io.BytesIO(data), encoding=encoding, newline="") as file:
            separator = _separator(head := file.read(_HEAD))
        frame = pd.read_csv(
            io.BytesIO(data),
            encoding=encoding,
            sep=separator,
            decimal="," if _has_decimal_commas(head, separator) else ".",
            na_values=_MISSING,
            low_memory=False,  # in parts, a column of numbers and words would have 7 and 007
        )
        names = next(csv.reader(head.splitlines(), delimiter=separator))
    except ImportError:
        raise ValueError("Parquet files need pyarrow: pip install pyarrow.") from None
    except Exception as error:  # noqa: BLE001 - whatever a parser says may quote cells
        where = _WHERE.search(str(error))
        why = where[0] if where else _WHY.get(type(error).__name__, _WITHHELD)
        raise ValueError(
            f"{path.name} cannot be read as a table ({type(error).__name__}; {why})."
        ) from None
    _check_cells(path, frame, names)
    return frame


def _check_cells(path: Path, frame: Any, names: list[str]) -> None:
    """Refuse a table whose cells may stand below names that are not theirs."""
    if frame.empty:
        raise ValueError(f"{path.name} has no rows below the line that names the columns.")
    if not isinstance(frame.index, pd.RangeIndex) and frame.iloc[:, -1].isna().all():
        raise ValueError(
            f"Each row of {path.name} has one cell more than the first line, an empty one at its "
            "end; take the separators at the ends away, or put one at the end of the first line."
        )
    # pandas gives the second one a name of its own.
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        which = "" if any(map(_is_cell, names)) else f" ({', '.join(twice[:5])})"
        raise ValueError(
            f"{path.name} has several columns of one name{which}, so nothing tells which is meant; "
            "the first line must name each column apart."
        )


def _encoding(data: bytes) -> str:
    """Return encoding of a file: UTF-8 or UTF-16, otherwise what spreadsheets on Windows write."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


def _separator(head: str) -> str:
    """Return separator that cuts the first lines into the same number of cells, more than one."""
    lines = [line for line in head.splitlines()[:_LINES] if line]
    # The last one may be cut off.
    lines = lines[:-1] if len(lines) > 2 else lines
    best, most = ",", 1
    for separator in _SEPARATORS:
        widths = {len(row) for row in csv.reader(lines, delimiter=separator)}
        if len(widths) == 1 and (width := widths.pop()) > most:
            best, most = separator, width
    return best


def _has_decimal_commas(head: str, separator: str) -> bool:
    """Return whether numbers are written 1,5.

    Some without groups of thousands, none written 1.5.
    """
    rows = csv.reader(head.splitlines(), delimiter=separator)
    cells = [cell.strip() for row in rows for cell in row]
    if any(map(re.compile(r"[-+]?\d*\.\d+").fullmatch, cells)):
        return False
    with_comma = filter(re.compile(r"[-+]?\d+,\d+").fullmatch, cells)
    return not all(map(re.compile(r"[-+]?\d{1,3},\d{3}").fullmatch, with_comma))


def _plain(column: Any) -> Any:
    values = column.to_numpy()
    if values.dtype.kind in "biuf":
        return values
    if column.isna().any():
        raise ValueError("The target or the groups have missing values; leave those rows out.")
    return np.asarray(column.astype(str).to_numpy(), dtype=str)
