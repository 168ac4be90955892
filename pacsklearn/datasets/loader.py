"""Make the public loader of a data set from its facts."""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from pacsklearn._optional import optional
from pacsklearn.datasets.dataset import Dataset, fact_file
from pacsklearn.datasets.download import locate
from pacsklearn.datasets.storage import read_table


def loader(dataset: Dataset) -> Callable[..., Bunch | tuple[Any, Any]]:
    """Return the documented function ``load_<name>`` of `dataset`.

    Data of which a feature is text are returned as a frame unless asked otherwise.
    """

    def load_dataset(
        *,
        return_X_y: bool = False,
        as_frame: bool = not dataset.all_numeric,
        data_home: str | os.PathLike[str] | None = None,
        download: bool = True,
    ) -> Bunch | tuple[Any, Any]:
        # Before the download: a missing package should not cost the user a transfer.
        pandas = None
        if as_frame or not dataset.all_numeric:
            reason = "as_frame=True" if as_frame else "a data set with text columns"
            purpose = f"load_{dataset.name} for {reason}"
            pandas = optional("pandas", extra="plot", purpose=purpose)
        path = locate(dataset, data_home, download=download)
        bunch = _bunch(dataset, path, pandas, as_frame=as_frame)
        return (bunch.data, bunch.target) if return_X_y else bunch

    load_dataset.__name__ = load_dataset.__qualname__ = f"load_{dataset.name}"
    load_dataset.__module__ = f"{__package__}.{dataset.name}"
    load_dataset.__doc__ = _document(dataset, **dataset.words)
    return load_dataset


def _document(dataset: Dataset, *, data: str, target: str, **words: str) -> str:
    numeric = dataset.all_numeric
    n_rows, n_features = dataset.n_rows, len(dataset.features)
    array, series = (
        ("ndarray or DataFrame", "ndarray or Series")
        if numeric
        else ("DataFrame or ndarray", "Series or ndarray")
    )
    accepted = "".join(f"``{name}``, " for name in dataset.file_names).removesuffix(", ")
    return fact_file("loader.txt").format(
        **words,
        needs="" if numeric else "\nNeeds pandas.\n",
        as_frame=not numeric,
        frames=_wrapped(
            "Return `data` as a DataFrame and `target` as a Series. Needs pandas."
            if numeric
            else "Return `data` as a DataFrame with nominal features as pandas categoricals, and "
            "`target` as a Series. If false, `data` is an array of objects."
        ),
        data_home=_wrapped(
            "Folder to look in first and to write a download to. After it come the folder named "
            "by the environment variable ``PACSKLEARN_DATA`` and ``~/pacsklearn_data``. Accepted "
            f"there are {accepted} and the original archive."
        ),
        data=_wrapped(f"- ``data``, {array} of shape ({n_rows}, {n_features}): {data}", 2),
        target=_wrapped(f"- ``target``, {series} of shape ({n_rows},): {target}", 2),
        n_rows=n_rows,
        n_columns=n_features + 1,
        imports="" if numeric else "ImportError\n    If pandas is not installed.\n",
    )


def _wrapped(text: str, hanging: int = 0) -> str:
    return textwrap.fill(
        text,
        width=84,
        initial_indent=" " * 4,
        subsequent_indent=" " * (4 + hanging),
        break_long_words=False,
        break_on_hyphens=False,
    )


MISSING = ("?", "")


def _bunch(dataset: Dataset, path: Path, pandas: Any, *, as_frame: bool) -> Bunch:
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


def _frame(dataset: Dataset, cells: list[tuple[str, ...]], path: Path, pandas: Any) -> Any:
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
