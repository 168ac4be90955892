"""Near duplicates: against all pairs, and only those that no group joins."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pacsklearn.audit.near_duplicates import near_duplicates

generator = np.random.default_rng(0)
X = generator.standard_normal((60, 3)) * [1.0, 100.0, 1e-3]
X[10] = X[3]
X[20] = X[3] * (1 + 1e-9)
X[41, 0] = X[40, 0] + 0.05
X[41, 1:] = X[40, 1:]


def brute(tolerance, units):
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    return {
        (i, j)
        for i in range(60)
        for j in range(i + 1, 60)
        if np.abs(scaled[i] - scaled[j]).max() <= tolerance and units[i] != units[j]
    }


@pytest.mark.parametrize("tolerance", [1e-6, 1e-3, 0.1, 0.5])
@pytest.mark.parametrize("groups", [None, np.arange(60) // 2, np.where(np.arange(60) < 15, 0, 1)])
def test_pairs_are_those_of_all_comparisons(tolerance, groups):
    units = np.arange(60) if groups is None else groups
    found = near_duplicates(X, groups, tolerance=tolerance)
    assert set(map(tuple, found.pairs.tolist())) == brute(tolerance, units)


def test_groups_that_join_them_silence_it():
    groups = np.arange(60)
    groups[[10, 20]] = 3
    assert "nearly equal" in str(near_duplicates(X))
    assert near_duplicates(X).n_affected == 3
    assert str(near_duplicates(X, groups)).startswith("No two rows")


def test_words_and_missing_numbers_are_equal_or_not():
    table = pd.DataFrame(
        {"name": ["a", "a", "b", "a"], "age": [1.0, 1.0, 1.0, np.nan], "x": [2.0, 2.0, 2.0, 2.0]}
    )
    assert near_duplicates(table).pairs.tolist() == [[0, 1]]
    table.loc[2] = table.loc[3]
    assert near_duplicates(table).pairs.tolist() == [[0, 1], [2, 3]]


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="groups"):
        near_duplicates(X, [0, 1])
    with pytest.raises(ValueError, match="tolerance"):
        near_duplicates(X, tolerance=-1)
