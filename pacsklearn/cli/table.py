"""Tables in CSV and Parquet files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import pandas as pd

__all__ = ["Table", "read_table"]


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


def read_table(path: Path, target: str | None = None, groups: str | None = None) -> Table:
    """Read a table; the first line of a CSV file names its columns.

    Raises
    ------
    ValueError
        When the file is no such table or has no such column. No cell is quoted, nor a column's
        name: in a file without a header the first row of data would be taken for names.
    """
    suffix = path.suffix.lower()
    if suffix not in {".csv", ".parquet", ".pq"}:
        raise ValueError(f"data must be a .csv or .parquet file, got {path.name!r}.")
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    try:
        frame = pd.read_csv(path) if suffix == ".csv" else pd.read_parquet(path)
    except ImportError:
        raise ValueError("Parquet files need pyarrow: pip install pyarrow.") from None
    except Exception as error:  # noqa: BLE001 - whatever a parser says may quote cells
        raise ValueError(
            f"{path.name} cannot be read as a table ({type(error).__name__}; the message is "
            "withheld, since it may quote cells)."
        ) from None
    taken: dict[str, Any] = {}
    for role, name in (("target", target), ("groups", groups)):
        if name is None:
            taken[role] = None
            continue
        if name not in frame.columns:
            raise ValueError(
                f"{role}: {path.name} has no column {name!r} among its {frame.shape[1]} columns; "
                "the first line must name them."
            )
        taken[role] = _plain(frame.pop(name))
    if frame.shape[1] == 0:
        raise ValueError(f"{path.name} has no columns left for the features.")
    return Table(frame, taken["target"], taken["groups"])


def _plain(column: Any) -> Any:
    values = column.to_numpy()
    if values.dtype.kind in "biuf":
        return values
    if column.isna().any():
        raise ValueError("The target or the groups have missing values; leave those rows out.")
    return np.asarray(column.astype(str).to_numpy(), dtype=str)
