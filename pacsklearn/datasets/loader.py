"""Make the public loader of a data set from its facts."""

from __future__ import annotations

import os
import textwrap
from typing import Any, Protocol

from sklearn.utils import Bunch

from pacsklearn.datasets.bunch import load
from pacsklearn.datasets.dataset import Dataset

__all__ = ["Loader", "loader"]

_DOCUMENT = """\
{opening}

{table}
{needs}
Parameters
----------
return_X_y : bool, default=False
    Return ``(data, target)`` instead of a bunch.
as_frame : bool, default={as_frame}
{frames}
data_home : str or path-like, default=None
{data_home}
download : bool, default=True
    Fetch the original from the UCI repository when no folder has it.

Returns
-------
data : :class:`~sklearn.utils.Bunch` or tuple
    With `return_X_y` the pair ``(data, target)``, else a bunch with

{data}
{target}
    - ``frame``, DataFrame of shape ({n_rows}, {n_columns}) or None: Both together, with
      ``as_frame=True``.
    - ``feature_names``, list of str.
    - ``target_names``, ndarray of str.
    - ``DESCR``, str: Meaning of the columns, source and licence.
    - ``filename``, str: the file that was read.

Raises
------
{imports}FileNotFoundError
    If the file is missing and ``download=False``.
OSError
    If the original cannot be fetched or stored; the message says how to put it in
    place by hand.

Examples
--------
{examples}
"""


class Loader(Protocol):
    """What every public loader can be called with."""

    __doc__: str | None

    def __call__(
        self,
        *,
        return_X_y: bool = False,
        as_frame: bool = ...,
        data_home: str | os.PathLike[str] | None = None,
        download: bool = True,
    ) -> Bunch | tuple[Any, Any]: ...


def loader(
    dataset: Dataset, *, opening: str, table: str, data: str, target: str, examples: str
) -> Loader:
    """Return the documented function ``load_<name>`` of `dataset`.

    Parameters
    ----------
    dataset : Dataset
        Data of which a feature is text are returned as a frame unless asked otherwise.
    opening : str
        First line of the documentation.
    table : str
        Sizes at a glance.
    data, target : str
        What features and target are.
    examples : str
    """

    def load_dataset(
        *,
        return_X_y: bool = False,
        as_frame: bool = not dataset.all_numeric,
        data_home: str | os.PathLike[str] | None = None,
        download: bool = True,
    ) -> Bunch | tuple[Any, Any]:
        return load(
            dataset,
            return_X_y=return_X_y,
            as_frame=as_frame,
            data_home=data_home,
            download=download,
        )

    load_dataset.__name__ = load_dataset.__qualname__ = f"load_{dataset.name}"
    load_dataset.__module__ = f"{__package__}.{dataset.name}"
    load_dataset.__doc__ = _document(
        dataset, opening=opening, table=table, data=data, target=target, examples=examples
    )
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
    return _DOCUMENT.format(
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
