"""Data of the study, each feature brought to a common range stated beforehand."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from public_data import Split, iris, rice
from sklearn.utils import shuffle

# As a data holder who knows the subject would state them; typed in, not computed.
_RANGES = {
    "Iris": ((4, 2, 1, 0), (8, 4.5, 7, 2.5)),
    "Rice": ((7000, 350, 140, 55, 0.75, 7000, 0.45), (20000, 560, 240, 110, 0.95, 20000, 0.9)),
}


@dataclass(frozen=True)
class StudyData:
    """One data set, split, with features between -2.5 and 2.5 or near it and classes as numbers."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])


def load(name: str) -> StudyData | None:
    split = {"Iris": iris, "Rice": rice}[name]()
    return None if split is None else _scaled(name, split, *_RANGES[name])


def load_csv(path: str, target: str) -> StudyData:
    """Numeric columns of a file with a header; 70 % of the rows, shuffled, for training.

    No range is stated, so the observed one is rounded outwards to one digit. For a release that
    would be a look at private data; state the ranges in this file instead.
    """
    with Path(path).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows or target not in rows[0]:
        raise SystemExit(f"--csv needs a header with the column {target!r}, given by --target.")
    try:
        X = np.array([[float(v) for k, v in row.items() if k != target] for row in rows])
    except ValueError:
        raise SystemExit("--csv: every column but the target must hold numbers only.") from None
    X, y = shuffle(X, np.array([row[target] for row in rows]), random_state=0)
    span = np.ptp(X, axis=0)
    digit = 10 ** np.floor(np.log10(np.where(span > 0, span, 1.0)))
    low, high = np.floor(X.min(axis=0) / digit) * digit, np.ceil(X.max(axis=0) / digit) * digit
    high = np.where(high > low, high, low + 1)
    return _scaled(Path(path).stem, Split(X, y, int(0.7 * len(X))), low, high)


def _scaled(name: str, split: Split, low: object, high: object) -> StudyData:
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    X = 5 * (np.asarray(split.X) - low) / (high - low) - 2.5
    y = np.unique(split.y, return_inverse=True)[1]
    n = split.n_train
    return StudyData(name, X[:n], y[:n], X[n:], y[n:])
