"""What is publicly known about a data set before any of its rows is read."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from urllib.parse import urlsplit

Row = list[str]


@dataclass(frozen=True)
class Dataset:
    """Facts about one data set, all of them from its published codebook.

    Nothing here is learnt from the rows, so categories and column names may be
    treated as public by a private estimator.

    Parameters
    ----------
    name : str
        Name of the loader without ``load_``.
    file_names : tuple of str
        Accepted CSV file names; the first is the one written after a download.
    features : mapping of str to tuple of str or None
        Feature columns in file order. A tuple lists the categories of a nominal
        feature, None marks a numeric one.
    target : str
        Name of the last column.
    classes : tuple of str or None
        Class labels as written in the file, in the order of their integer codes;
        None for a numeric target.
    n_rows : int
        Number of rows in the original.
    url : str
        Address of the original archive.
    convert : callable
        Pure function from the bytes of the original archive to rows in the order
        of `columns`.
    description : str
        Text for the ``DESCR`` entry of the bunch.
    words : mapping of str to str
        For the loader's documentation: its first line (``opening``), sizes at a glance
        (``table``), what features and target are (``data``, ``target``), ``examples``.
    """

    name: str
    file_names: tuple[str, ...]
    features: Mapping[str, tuple[str, ...] | None]
    target: str
    classes: tuple[str, ...] | None
    n_rows: int
    url: str
    convert: Callable[[bytes], list[Row]]
    description: str
    words: Mapping[str, str]

    @property
    def columns(self) -> Row:
        """Column names of the CSV file, the target last."""
        return [*self.features, self.target]

    @property
    def all_numeric(self) -> bool:
        """Whether every feature is a number."""
        return all(categories is None for categories in self.features.values())

    @property
    def archive_name(self) -> str:
        """File name of the original archive."""
        return urlsplit(self.url).path.rsplit("/", 1)[-1]


def codebook(text: str) -> dict[str, tuple[str, ...] | None]:
    """Columns that are separated by semicolons: ``name: category, category``, or only a name."""
    columns = (column.partition(":") for column in text.split(";"))
    return {
        name.strip(): tuple(one.strip() for one in categories.split(",")) if categories else None
        for name, _, categories in columns
    }


def described(name: str, convert: Callable[[bytes], list[Row]]) -> Dataset:
    """Data set whose facts stand in ``facts/<name>.toml``; ``convert`` reads its original."""
    facts = tomllib.loads(fact_file(f"{name}.toml"))
    facts["features"] = codebook(facts["features"])
    classes = facts.pop("classes", None)
    return Dataset(
        **facts | {"file_names": tuple(facts["file_names"])},
        name=name,
        classes=None if classes is None else tuple(classes),
        convert=convert,
    )


def fact_file(name: str) -> str:
    """Text of a file in ``facts``."""
    return resources.files("pacsklearn.datasets").joinpath("facts", name).read_text("utf-8")
