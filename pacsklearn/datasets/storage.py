"""Folders in which data files are looked for, and how they are written."""

from __future__ import annotations

import csv
import gzip
import os
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path

ENVIRONMENT_VARIABLE = "PACSKLEARN_DATA"


def folders(data_home: str | os.PathLike[str] | None) -> list[Path]:
    """Return the folders to look in, the most specific first.

    Parameters
    ----------
    data_home : str, path-like or None
        Folder chosen by the caller.

    Returns
    -------
    list of pathlib.Path
        `data_home` if given, the folder named by ``PACSKLEARN_DATA`` if set, and
        ``~/pacsklearn_data``. A download is written to the first of them.
    """
    chosen: list[str | os.PathLike[str]] = []
    if data_home is not None:
        if not isinstance(data_home, str | os.PathLike):
            raise TypeError(
                "data_home must be the path of a folder (str or os.PathLike) or None; "
                f"got {data_home!r} of type {type(data_home).__name__}."
            )
        chosen.append(data_home)
    if from_environment := os.environ.get(ENVIRONMENT_VARIABLE):
        chosen.append(from_environment)
    chosen.append("~/pacsklearn_data")
    return list(dict.fromkeys(Path(folder).expanduser() for folder in chosen))


def find(places: Iterable[Path], names: Sequence[str]) -> Path | None:
    """Return the first existing file called one of `names`, or None."""
    for folder in places:
        for name in names:
            if (folder / name).is_file():
                return folder / name
    return None


def read_table(path: Path, columns: Sequence[str]) -> list[list[str]]:
    """Read a CSV file (gzipped if its name ends with ``.gz``) as text cells.

    Raises
    ------
    ValueError
        If the header is not `columns` or a row is not as long as the header.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, mode="rt", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    header, body = (rows[0], rows[1:]) if rows else ([], [])
    if header != list(columns):
        raise ValueError(
            f"{path} must have the columns {list(columns)}; got {header}. "
            "Remove the file to have it fetched again, or correct its header."
        )
    for number, row in enumerate(body, start=1):
        if len(row) != len(header):
            raise ValueError(
                f"{path} must have {len(header)} cells in every row; row {number} has {len(row)}. "
                "The file may be cut off: remove it to have it fetched again."
            )
    return body


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file so that other processes see either all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not tempfile: its files are readable by their owner alone, and caches are shared.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        # The temporary name hides the suffix, so the target's name decides on compression.
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(temporary, mode="wt", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
