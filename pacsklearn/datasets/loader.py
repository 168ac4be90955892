"""Loaders of data sets, each from what its codebook says of it in ``facts``."""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import tomllib
import zipfile
from collections.abc import Callable, Collection, Iterable
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn.datasets import fetch_file
from sklearn.utils import Bunch

from pacsklearn._optional import optional

_FOLDER: Final = "PACSKLEARN_DATA"
_MISSING: Final = ("?", "")


def loader_of(name: str) -> Callable[..., Any]:
    """Return the documented function ``load_<name>``.

    One function for each data set, so that each is documented with its own facts.
    """
    facts = tomllib.loads(_fact_file(f"{name}.toml"))
    features, target, classes = facts["features"], facts["target"], facts.get("classes")
    numeric = not any(features.values())

    def load(
        *,
        return_X_y: bool = False,
        as_frame: bool = not numeric,
        data_home: str | os.PathLike[str] | None = None,
        download: bool = True,
    ) -> Any:
        pandas: Any = None
        if as_frame or not numeric:
            # Before the download: a missing package should not cost the user a transfer.
            pandas = optional("pandas", extra="plot", purpose=f"load_{name} of frames or texts")
        path = _located(name, facts, data_home, download=download)
        cells = _cells(path, facts)
        columns: dict[str, Any] = {}
        for feature, categories in features.items():
            if categories:
                codes = _codes(cells[feature], categories, feature, path, missing=-1)
                columns[feature] = pandas.Categorical.from_codes(codes, categories)
            else:
                columns[feature] = _numbers(cells[feature], feature, path)
        goal: Any = (
            _codes(cells[target], classes, target, path)
            if classes
            else _numbers(cells[target], target, path)
        )
        frame = None
        if pandas is None:
            data: Any = np.column_stack(list(columns.values()))
        elif as_frame:
            data, goal = pandas.DataFrame(columns), pandas.Series(goal, name=target)
            frame = pandas.concat([data, goal], axis=1)
        else:
            data = pandas.DataFrame(columns).to_numpy(dtype=object)
        if return_X_y:
            return data, goal
        return Bunch(
            data=data,
            target=goal,
            frame=frame,
            feature_names=list(features),
            target_names=np.array(classes or [target]),
            DESCR=facts["description"],
            filename=str(path),
        )

    load.__name__ = load.__qualname__ = f"load_{name}"
    load.__module__ = __package__
    load.__doc__ = _fact_file("loader.txt").format(
        **facts["words"],
        as_frame=not numeric,
        accepted=", ".join(f"``{one}``" for one in (*facts["file_names"], _archive(facts))),
        n_rows=facts["n_rows"],
        n_features=len(features),
    )
    return load


def _fact_file(name: str) -> str:
    return resources.files("pacsklearn.datasets").joinpath("facts", name).read_text("utf-8")


def _archive(facts: dict[str, Any]) -> str:
    return str(facts["url"].rpartition("/")[2])


def folders(data_home: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the folders to look in, the most specific first."""
    named = (data_home, os.environ.get(_FOLDER), "~/pacsklearn_data")
    return [Path(each).expanduser() for each in named if each]


def first_file(places: Iterable[Path], names: Collection[str]) -> Path | None:
    """Return the first file there is of one of these names."""
    paths = (place / name for place in places for name in names)
    return next((path for path in paths if path.is_file()), None)


def _located(name: str, facts: dict[str, Any], data_home: Any, *, download: bool) -> Path:
    """Return the file of a data set, or its original archive, which is fetched if needed."""
    places, accepted = folders(data_home), (*facts["file_names"], _archive(facts))
    if path := first_file(places, accepted):
        return path
    advice = (
        f"Download {facts['url']} by hand and put {_archive(facts)!r} into {places[0]} (or name "
        f"the folder that has it in the environment variable {_FOLDER}, or pass it as data_home)."
    )
    if not download:
        looked = ", ".join(map(str, places))
        raise FileNotFoundError(
            f"load_{name} found none of {', '.join(map(repr, accepted))} in {looked}, and "
            f"download=False. {advice}"
        )
    try:
        places[0].mkdir(parents=True, exist_ok=True)
        return Path(fetch_file(facts["url"], places[0], _archive(facts), n_retries=1))
    except OSError as error:
        raise OSError(f"load_{name} could not fetch {facts['url']}: {error}. {advice}") from error


def _cells(path: Path, facts: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the texts of each column."""
    names = [*facts["features"], facts["target"]]
    is_original = path.suffix == ".zip"
    rows: list[list[str]] = []
    for text in _texts(path, facts["members"] if is_original else None):
        lines = [line for line in text.splitlines() if line.strip() and line[0] not in "|%"]
        rows += csv.reader(lines, delimiter=";" if ";" in lines[0] else ",", skipinitialspace=True)
    # ARFF lists its columns one in a line.
    header = [row[0].split()[1].strip("'\"") for row in rows if row[0][:5].lower() == "@attr"]
    rows = [row for row in rows if not row[0].startswith("@")]
    if not header and not (is_original and facts.get("bare")):
        header, rows = (rows[0], rows[1:]) if rows else ([], [])
    wrong = ""
    if header and [each.lower() for each in header] != [each.lower() for each in names]:
        wrong = f"have the columns {names}; got {header}"
    elif is_original and len(rows) != facts["n_rows"]:
        wrong = f"hold {facts['n_rows']} rows; got {len(rows)}"
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names) and not wrong:
            wrong = f"have {len(names)} cells in every row; row {number} has {len(row)}"
    if wrong:
        raise ValueError(f"{path} must {wrong}. Remove the file to have it fetched again.")
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    stripped = (tuple(cell.strip(" '\"") for cell in column) for column in columns)
    cells = dict(zip(names, stripped, strict=True))
    # One file of Adult ends its classes with a full stop.
    cells[names[-1]] = tuple(cell.removesuffix(".") for cell in cells[names[-1]])
    return cells


def _texts(path: Path, members: list[str] | None) -> list[str]:
    """Return the text of a file, or of these members of an archive."""
    if members is None:
        content = path.read_bytes()
        return [(gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8-sig")]
    try:
        texts = [_member(path.read_bytes(), each) for each in members]
    except zipfile.BadZipFile as error:
        raise ValueError(
            f"{path} is not a readable zip archive ({error}). Remove it to have it fetched again."
        ) from error
    if None in texts:
        raise ValueError(f"{path} has no file {members[texts.index(None)].lstrip('/')!r}.")
    return [text for text in texts if text is not None]


def _member(archive: bytes, suffix: str) -> str | None:
    """Return the text of the file whose name ends so, also in an archive inside."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for name in opened.namelist():
            if f"/{name}".lower().endswith(suffix):
                return opened.read(name).decode("utf-8-sig")
        inner = [name for name in opened.namelist() if name.lower().endswith(".zip")]
        texts = (_member(opened.read(name), suffix) for name in inner)
        return next((text for text in texts if text is not None), None)


def _numbers(column: tuple[str, ...], name: str, path: Path) -> np.ndarray:
    try:
        return np.array([math.nan if cell in _MISSING else float(cell) for cell in column])
    except ValueError as error:
        raise ValueError(
            f"{path}: the column {name!r} must hold numbers, or '?' where one is missing; {error}."
        ) from error


def _codes(
    column: tuple[str, ...],
    categories: list[str],
    name: str,
    path: Path,
    missing: int | None = None,
) -> np.ndarray:
    lookup = {category: code for code, category in enumerate(categories)}
    if missing is not None:
        lookup |= dict.fromkeys(_MISSING, missing)
    unknown = sorted(set(column) - lookup.keys())
    if unknown:
        raise ValueError(
            f"{path}: the column {name!r} must hold only {categories}; got {unknown}. "
            "Remove the file to have it fetched again, or correct these cells."
        )
    return np.array([lookup[cell] for cell in column], dtype=np.int64)
