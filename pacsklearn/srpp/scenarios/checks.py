"""Checks of a scenario's parameters and of the secret column; no message quotes a row."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from pacsklearn._validation import as_inner_share, is_real
from pacsklearn.exceptions import ScenarioError
from pacsklearn.srpp.scenarios.scenario import Scenario, SecretColumn, all_pairs
from pacsklearn.universe.frame import is_missing, with_gaps

_MOST_SECRETS = 50
_MOST_CLASSES = 100
_NO_COLUMN = "secret must hold one value for each row, a number or a text, and no lists or tables."
# The last that eight digits, as guarantees print them, can tell from 1.
_MOST_CONFIDENCE = 1 - 1e-8


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
    if values.dtype.kind in "fmM" and not np.isfinite(values).all():
        raise ScenarioError("secret must be known for every row, some entries are nan or infinite.")
    # Values of several types cannot be sorted, which finding the distinct ones takes.
    if values.dtype == object:
        if any(map(is_missing, values)):
            raise ScenarioError("secret must be known for every row, some entries are missing.")
        if not all(isinstance(value, Hashable) for value in values):
            raise ScenarioError(_NO_COLUMN)
        texts = list(map(str, values))
        # As many pairs as values and as texts: to be equal and to read alike is the same.
        if not len(set(zip(values, texts, strict=True))) == len(set(values)) == len(set(texts)):
            raise ScenarioError(
                "secret holds values that read alike and differ, as '1' and 1, or that are equal "
                "and read differently, as 1 and 1.0; make all of one type, so that it is clear "
                "which rows share a secret."
            )
        values = np.array(texts)
    names, codes = np.unique(values, return_inverse=True)
    if not 2 <= names.size <= _MOST_SECRETS:
        way = "; put it into bins first" if names.size > 1 else ", which every row has"
        raise ScenarioError(
            f"secret must take between 2 and {_MOST_SECRETS} values, got {names.size}{way}."
        )
    return names.tolist(), codes.ravel().astype(np.int64)


def stated_column(secret: Any, X: Any, y: Any, given: Any, names: list[str] | None) -> SecretColumn:
    """Return the column that a user gave, or named among the ``names`` of X; else the labels."""
    if secret is None:
        return SecretColumn(with_gaps(y), "y", by_default=True)
    # The very object, though checks have made another one of y.
    if secret is given:
        return SecretColumn(with_gaps(y), "y")
    if not isinstance(secret, str):
        try:
            return SecretColumn(with_gaps(secret))
        except (TypeError, ValueError):  # lists of several lengths; NumPy's words may quote them
            raise ScenarioError(_NO_COLUMN) from None
    if names is None or secret not in names:
        raise ScenarioError(
            f"secret={secret!r} is not a column of X; give a column's name of a DataFrame, or one "
            "value a row."
        )
    if hasattr(X, "columns"):
        return SecretColumn(with_gaps(X[secret]), secret)
    place = names.index(secret)
    column = X[:, [place]]
    return SecretColumn(np.ravel(column.toarray() if issparse(column) else column), place)


def check_unused(scenario: Scenario, secret: SecretColumn | None, realized: Any) -> None:
    """Refuse a secret column, or a true secret, that the scenario would never look at.

    Raises
    ------
    ScenarioError
    """
    if scenario.redrawn and scenario.most_differing(1) is None:
        return
    is_named = secret is not None and not secret.by_default
    for name, given in (("secret", is_named), ("realized", realized is not None)):
        if given:
            raise ScenarioError(
                f"{type(scenario).__name__} takes no {name} here: training and releases are on the "
                "table, whichever secret is true. Leave it out, or give scenario=, one that hides "
                "it."
            )


def class_codes(y: Any, n_rows: int) -> NDArray[np.int64]:
    """Return the class of each row where ``y`` names few classes, else the same for all."""
    labels = np.zeros(n_rows) if y is None or np.ndim(y) != 1 else np.asarray(y)
    if labels.dtype == object:
        labels = labels.astype(str)
    names, codes = np.unique(labels, return_inverse=True)
    few = names.size <= min(_MOST_CLASSES, n_rows // 2)
    return codes.ravel().astype(np.int64) * few


def numbers(given: Any) -> list[float]:
    """Return what a list holds, nan for what is no number; ``[]`` for what is no list."""
    return [
        float(value) if is_real(value) else math.nan
        for value in (given if _is_listed(given) else ())
    ]


def listed(name: str, given: Any) -> list[Any]:
    """Return what a list holds; refuse what is none, and what can be read only once.

    Raises
    ------
    ScenarioError
    """
    if not _is_listed(given):
        raise ScenarioError(f"{name} must be a list, got an object of type {type(given).__name__}.")
    return list(given)


def _is_listed(given: Any) -> bool:
    return np.iterable(given) and isinstance(given, Sized) and not isinstance(given, str)


def described_pairs(pairs: Any) -> list[str] | None:
    """Return the pairs as the scenario's description has them."""
    return None if pairs is None else sorted(map(repr, listed("pairs", pairs)))


def confidence_of(scenario: Scenario) -> float:
    """Return how surely a scenario's promises shall hold; refuse what would be printed as 1."""
    confidence = as_inner_share("confidence", scenario.confidence)
    if confidence > _MOST_CONFIDENCE:
        raise ScenarioError(
            f"confidence must be at most 1 - 1e-8, got 1 - {1 - confidence:.3g}; give for instance "
            "0.999999."
        )
    return confidence


def pair_indices(pairs: Any, secrets: Sequence[Any]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of indices for pairs of secrets; all pairs for None."""
    if pairs is None:
        return all_pairs(len(secrets))
    indices = []
    pair: Any
    for pair in listed("pairs", pairs):
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise ScenarioError(
                f"pairs must be pairs of secrets, got an object of type {type(pair).__name__}."
            )
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
