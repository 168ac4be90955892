"""The public data sets of the benchmarks, split as the papers' authors split them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.utils import shuffle

from pacsklearn.datasets import load_rice
from pacsklearn.tabular import Schema

_SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


class Split(NamedTuple):
    """Rows in the authors' order, the first ``n_train`` of them for training."""

    X: np.ndarray
    y: np.ndarray
    n_train: int

    @property
    def train(self) -> tuple[np.ndarray, np.ndarray]:
        return self.X[: self.n_train], self.y[: self.n_train]

    @property
    def test(self) -> tuple[np.ndarray, np.ndarray]:
        return self.X[self.n_train :], self.y[self.n_train :]


def iris() -> Split:
    X, y = shuffle(*load_iris(return_X_y=True), random_state=0)
    return Split(X, y, 100)


def breast_cancer() -> Split:
    X, y = shuffle(*load_breast_cancer(return_X_y=True), random_state=0)
    return Split(X, y, int(0.7 * len(X)))


def rice() -> Split | None:
    """None, and a message, when the file is not on this machine."""
    folder = os.environ.get("PACSKLEARN_DATA", str(_SHARED))
    try:
        X, y = load_rice(return_X_y=True, data_home=folder, download=False)
    except OSError as error:
        print(f"Rice is skipped: {error} Name its folder in PACSKLEARN_DATA.")
        return None
    X, y = shuffle(np.asarray(X), np.asarray(y), random_state=0)
    return Split(X, y, int(0.7 * len(X)))


# Round figures of wages and the tax code's; capital gains of most people are 0.
_GAINS = (1, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 10_000, 15_000, 20_000)
_LOSSES = (1, 1000, 1500, 1800, 2000, 2200, 2500, 3000)


def adult_schema(X: Any) -> Schema:
    """Codebook of Adult: categories as published, ranges and edges written by hand.

    ``fnlwgt``, which says how many people a row stands for, is left out.
    """
    ranges = {"age": (15, 90), "education-num": (1, 16), "hours-per-week": (0, 100)}
    schema = Schema.from_dtypes(X, **ranges).drop("fnlwgt")
    return schema.with_column("capital-gain", edges=_GAINS).with_column(
        "capital-loss", edges=_LOSSES
    )
