"""Turn the text cells of a data set into the bunch its loader returns."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import Bunch

from pacsklearn.datasets.dataset import Dataset
from pacsklearn.datasets.download import locate
from pacsklearn.datasets.storage import read_table

if TYPE_CHECKING:
    from types import ModuleType

MISSING = ("?", "")


def load(
    dataset: Dataset,
    *,
    return_X_y: bool,
    as_frame: bool,
    data_home: str | os.PathLike[str] | None,
    download: bool,
) -> Bunch | tuple[Any, Any]:
    """Load `dataset` in the way every public loader documents."""
    needs_pandas = as_frame or not dataset.all_numeric
    # Before the download: a missing package should not cost the user a transfer.
    pandas = _import_pandas(dataset, as_frame=as_frame) if needs_pandas else None
    path = locate(dataset, data_home, download=download)
    rows = read_table(path, dataset.columns)
    cells = list(zip(*rows, strict=True)) or [()] * len(dataset.columns)
    target = _target(dataset, cells[-1], path)

    data: Any
    frame = None
    if pandas is None:
        data = np.column_stack(
            [
                _numbers(column, name, path)
                for name, column in zip(dataset.features, cells, strict=False)
            ]
        )
    else:
        data = _frame(dataset, cells, path, pandas)
        if as_frame:
            target = pandas.Series(target, name=dataset.target)
            frame = pandas.concat([data, target], axis=1)
        else:
            data = data.to_numpy(dtype=object)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=list(dataset.features),
        target_names=np.array(dataset.classes or [dataset.target]),
        DESCR=dataset.description,
        filename=str(path),
    )


def _target(dataset: Dataset, column: tuple[str, ...], path: Path) -> Any:
    if dataset.classes is None:
        return _numbers(column, dataset.target, path)
    return _codes(column, dataset.classes, dataset.target, path)


def _frame(dataset: Dataset, cells: list[tuple[str, ...]], path: Path, pandas: ModuleType) -> Any:
    columns: dict[str, Any] = {}
    for (name, categories), column in zip(dataset.features.items(), cells, strict=False):
        if categories is None:
            columns[name] = _numbers(column, name, path)
        else:
            codes = _codes(column, categories, name, path, missing=-1)
            columns[name] = pandas.Categorical.from_codes(codes, categories=list(categories))
    return pandas.DataFrame(columns)


def _numbers(column: tuple[str, ...], name: str, path: Path) -> np.ndarray:
    try:
        return np.array([math.nan if cell in MISSING else float(cell) for cell in column])
    except ValueError as error:
        raise ValueError(
            f"{path}: the column {name!r} must hold numbers, or '?' where one is missing; {error}."
        ) from error


def _codes(
    column: tuple[str, ...],
    categories: tuple[str, ...],
    name: str,
    path: Path,
    missing: int | None = None,
) -> np.ndarray:
    lookup = {category: code for code, category in enumerate(categories)}
    if missing is not None:
        lookup |= dict.fromkeys(MISSING, missing)
    unknown = sorted(set(column) - lookup.keys())
    if unknown:
        raise ValueError(
            f"{path}: the column {name!r} must hold only {list(categories)}; got {unknown}. "
            "Remove the file to have it fetched again, or correct these cells."
        )
    return np.array([lookup[cell] for cell in column], dtype=np.int64)


def _import_pandas(dataset: Dataset, *, as_frame: bool) -> ModuleType:
    try:
        import pandas as pd
    except ImportError as error:
        reason = "as_frame=True" if as_frame else "a data set with text columns"
        raise ImportError(
            f"load_{dataset.name} needs pandas for {reason}. "
            "Install it with: pip install 'pacsklearn[plot]'"
        ) from error
    return pd
