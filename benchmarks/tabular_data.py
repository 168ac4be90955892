"""Twelve tables of mixed kinds with their codebooks, for ``tabular.py``.

Codebooks of all but Adult are drafted from the table and confirmed: their ranges and categories are
looked up, and given to every side as if they were public. Real ones have to come from elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from public_data import adult_schema  # beside this file
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

from pacsklearn.datasets import load_adult, load_cleveland, load_rice, load_student
from pacsklearn.datasets.loader import first_file, folders
from pacsklearn.tabular import Schema

__all__ = ["TABLES", "Table"]


@dataclass(frozen=True)
class Table:
    """Rows, labels or numbers, codebook; public range of numbers, whose middle is public."""

    X: pd.DataFrame
    y: np.ndarray
    schema: Schema
    ends: tuple[float, float] | None = None

    @property
    def constant(self) -> float | None:
        """Middle of the range."""
        return None if self.ends is None else sum(self.ends) / 2

    def score(self, y: Any, predicted: Any) -> float:
        """Accuracy; of numbers one minus the squared error in units of the public constant's."""
        if self.ends is None:
            return float(np.mean(predicted == y))
        return float(1 - np.sum((y - predicted) ** 2) / np.sum((y - self.constant) ** 2))


def _drafted(X: pd.DataFrame, y: Any) -> Table:
    X = X.rename(columns=str).reset_index(drop=True)
    return Table(X, np.asarray(y), Schema.template(X).confirm())


def _adult() -> Table:
    X, y = load_adult(return_X_y=True)
    schema = adult_schema(X)
    return Table(X[list(schema.names)].reset_index(drop=True), np.asarray(y), schema)


def _file(name: str, target: Any, *, drop: tuple[str, ...] = (), header: Any = 0) -> pd.DataFrame:
    path = first_file(folders(), [name])
    if path is None:
        raise SystemExit(f"{name} is in no folder of PACSKLEARN_DATA or ~/pacsklearn_data.")
    frame = pd.read_csv(path, header=header)
    return frame.drop(columns=list(drop)).assign(label=target)


def _split_label(frame: pd.DataFrame, *columns: Any) -> Table:
    y = frame.pop("label")
    return _drafted(frame.drop(columns=list(columns)), y)


def _german() -> Table:
    frame = _file("german_credit.csv", lambda rows: rows["target"], drop=("_is_test",))
    return _split_label(frame, "target")


def _taiwan() -> Table:
    frame = _file("taiwan_credit_card.csv.gz", lambda rows: rows["target"], drop=("_is_test", "id"))
    return _split_label(frame, "target")


def _magic() -> Table:
    return _split_label(_file("magic04.csv.gz", lambda rows: rows["class"]), "class")


def _spambase() -> Table:
    frame = _file("spambase.csv.gz", lambda rows: rows[57], header=None)
    return _split_label(frame, 57)


def _wine() -> Table:
    frame = _file(
        "winequality_white.csv",
        lambda rows: np.digitize(rows["quality"], [6, 7]),
        drop=("type",),
    )
    return _split_label(frame, "quality")


def _loaded(load: Callable[..., Any], above: float | None = None) -> Table:
    X, y = load(return_X_y=True)
    return _drafted(pd.DataFrame(X), y if above is None else np.asarray(y) > above)


def _diabetes() -> Table:
    table = _loaded(load_diabetes)
    return Table(table.X, table.y, table.schema, (0.0, 300.0))


TABLES: dict[str, Callable[[], Table]] = {
    "adult": _adult,
    "german credit": _german,
    "taiwan credit": _taiwan,
    "magic": _magic,
    "spambase": _spambase,
    "white wine": _wine,
    "rice": lambda: _loaded(load_rice),
    "cleveland": lambda: _loaded(load_cleveland, 0),
    "student": lambda: _loaded(load_student, 9.5),
    "breast cancer": lambda: _loaded(load_breast_cancer),
    "diabetes": _diabetes,
    "digits": lambda: _loaded(load_digits),
}
