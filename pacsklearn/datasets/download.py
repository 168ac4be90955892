"""Find the file of a data set, or fetch the public original and convert it."""

from __future__ import annotations

import os
from http.client import HTTPException
from pathlib import Path
from urllib.request import Request, urlopen

from pacsklearn.datasets.dataset import Dataset, Row
from pacsklearn.datasets.storage import ENVIRONMENT_VARIABLE, find, folders, write_table

MAX_ARCHIVE_BYTES = 32 * 1024 * 1024
TIMEOUT_SECONDS = 30


def locate(dataset: Dataset, data_home: str | os.PathLike[str] | None, *, download: bool) -> Path:
    """Return the path of the CSV file of `dataset`, fetching it if needed.

    Parameters
    ----------
    dataset : Dataset
        Which data set.
    data_home : str, path-like or None
        See `pacsklearn.datasets.storage.folders`.
    download : bool
        Whether the network may be used.

    Returns
    -------
    pathlib.Path
        An existing file called one of ``dataset.file_names``.

    Raises
    ------
    FileNotFoundError
        If the file is missing and `download` is false.
    OSError
        If the original cannot be fetched, is not what was expected, or cannot be
        stored.
    """
    places = folders(data_home)
    path = find(places, dataset.file_names)
    if path is not None:
        return path

    destination = places[0] / dataset.file_names[0]
    original = find(places, [dataset.archive_name])
    if original is not None:
        source, archive = str(original), original.read_bytes()
    elif download:
        source, archive = dataset.url, _fetch(dataset, places)
    else:
        looked = ", ".join(str(folder) for folder in places)
        raise FileNotFoundError(
            f"load_{dataset.name} found none of {_accepted(dataset)} in {looked}, and "
            f"download=False. {_advice(dataset, places)}"
        )

    try:
        rows = _convert(dataset, archive)
    except ValueError as error:
        raise OSError(
            f"load_{dataset.name} could not use {source}: {error} {_advice(dataset, places)}"
        ) from error
    try:
        write_table(destination, dataset.columns, rows)
    except OSError as error:
        raise OSError(
            f"load_{dataset.name} read {source} but could not write {destination}: {error}. "
            f"Pass a writable folder as data_home or set {ENVIRONMENT_VARIABLE} to one."
        ) from error
    return destination


def _fetch(dataset: Dataset, places: list[Path]) -> bytes:
    if not dataset.url.startswith("https://"):
        raise ValueError(f"the url of {dataset.name} must start with 'https://'; got {dataset.url}")
    request = Request(dataset.url, headers={"User-Agent": "pacsklearn"})  # noqa: S310 - checked
    try:
        with urlopen(request, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310 - checked
            # One byte more than allowed: enough to tell that it is too much.
            archive: bytes = response.read(MAX_ARCHIVE_BYTES + 1)
    except (OSError, HTTPException) as error:
        raise OSError(
            f"load_{dataset.name} could not download {dataset.url}: {error}. "
            f"{_advice(dataset, places)}"
        ) from error
    if len(archive) > MAX_ARCHIVE_BYTES:
        raise OSError(
            f"load_{dataset.name} got more than {MAX_ARCHIVE_BYTES} bytes from {dataset.url}, "
            f"which is not that data set. {_advice(dataset, places)}"
        )
    return archive


def _convert(dataset: Dataset, archive: bytes) -> list[Row]:
    rows = dataset.convert(archive)
    if len(rows) != dataset.n_rows:
        raise ValueError(
            f"expected {dataset.n_rows} rows, got {len(rows)}; "
            "the file may be cut off or have been replaced."
        )
    width = len(dataset.columns)
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise ValueError(f"expected {width} cells in every row, row {number} has {len(row)}.")
    return rows


def _accepted(dataset: Dataset) -> str:
    return ", ".join(repr(name) for name in (*dataset.file_names, dataset.archive_name))


def _advice(dataset: Dataset, places: list[Path]) -> str:
    return (
        f"Download {dataset.url} by hand and put {dataset.archive_name!r} into {places[0]} "
        f"(or name the folder that has it in the environment variable {ENVIRONMENT_VARIABLE}, "
        "or pass it as data_home)."
    )
