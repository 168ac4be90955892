"""Checks of a scenario's parameters and of the secret column; no message quotes a row."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from pacsklearn.exceptions import ScenarioError
from pacsklearn.srpp.scenarios.scenario import SecretColumn, all_pairs
from pacsklearn.universe.frame import is_missing

_MOST_SECRETS = 50
_MOST_CLASSES = 100


def secret_codes(
    secret: SecretColumn | None, n_rows: int, scenario: str
) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the distinct values of the secret column, sorted, and which of them each row has.

    Raises
    ------
    ScenarioError
        When there is no column, it has another length, misses values, is constant or takes too
        many values.
    """
    if secret is None:
        raise ScenarioError(
            f"{scenario} needs to know what is secret; call fit(X, y, secret=column)."
        )
    values = np.asarray(secret.values)
    if values.shape != (n_rows,):
        raise ScenarioError(
            f"secret must have one entry for each of the {n_rows} rows of X, got an array of shape "
            f"{values.shape}."
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ScenarioError("secret must be known for every row, some entries are nan or infinite.")
    # Values of several types cannot be sorted, which finding the distinct ones takes.
    if values.dtype == object:
        if any(map(is_missing, values)):
            raise ScenarioError("secret must be known for every row, some entries are missing.")
        values = values.astype(str)
    names, codes = np.unique(values, return_inverse=True)
    if not 2 <= names.size <= _MOST_SECRETS:
        raise ScenarioError(
            f"secret must take between 2 and {_MOST_SECRETS} values, got {names.size}; put it "
            "into bins first."
        )
    return names.tolist(), codes.ravel().astype(np.int64)


def stated_column(secret: Any, X: Any, y: Any, given: Any, names: Any) -> SecretColumn:
    """Return the column that a user gave, or named, where it is among the ``names`` of X."""
    # The very object, though checks have made another one of y.
    if secret is given:
        return SecretColumn(np.asarray(y), "y")
    if not isinstance(secret, str):
        return SecretColumn(np.asarray(secret))
    if names is None or secret not in names:
        raise ScenarioError(
            f"secret={secret!r} is not a column of X; give a column's name of a DataFrame, or one "
            "value a row."
        )
    if hasattr(X, "columns"):
        return SecretColumn(np.asarray(X[secret]), secret)
    place = int(names.get_loc(secret))
    column = X[:, [place]]
    return SecretColumn(np.ravel(column.toarray() if issparse(column) else column), place)


def class_codes(y: Any, n_rows: int) -> NDArray[np.int64]:
    """Return the class of each row where ``y`` names few classes, else the same for all."""
    labels = np.zeros(n_rows) if y is None or np.ndim(y) != 1 else np.asarray(y)
    if labels.dtype == object:
        labels = labels.astype(str)
    names, codes = np.unique(labels, return_inverse=True)
    few = names.size <= min(_MOST_CLASSES, n_rows // 2)
    return codes.ravel().astype(np.int64) * few


def numbers(given: Any) -> list[float]:
    """Return what a list holds, nan for what is no number.

    ``[]`` for what can be read only once.
    """
    listed = np.iterable(given) and isinstance(given, Sized) and not isinstance(given, str)
    return [
        float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
        for value in (given if listed else ())
    ]


def pair_indices(pairs: Any, secrets: Sequence[Any]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of indices for pairs of secrets; all pairs for None."""
    if pairs is None:
        return all_pairs(len(secrets))
    indices = []
    pair: Any
    for pair in pairs if np.iterable(pairs) else (pairs,):
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise ScenarioError(f"pairs must be pairs of secrets, got {pair!r}.")
        unknown = [name for name in pair if name not in secrets]
        if unknown:
            raise ScenarioError(
                f"There is no data for {unknown[0]!r}, which the pair {tuple(pair)!r} names. "
                f"Known secrets: {', '.join(map(repr, secrets))}."
            )
        i, j = (secrets.index(name) for name in pair)
        if i == j:
            raise ScenarioError(f"A pair must name two different secrets, got {tuple(pair)!r}.")
        indices.append((i, j))
    return tuple(indices)
