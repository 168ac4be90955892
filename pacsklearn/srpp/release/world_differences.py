"""In how many rows the data sets of a scenario differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, final

import numpy as np

from pacsklearn.exceptions import ScenarioError
from pacsklearn.kernel.noise.noise_law import Integers
from pacsklearn.srpp.scenarios.scenario import World, Worlds, matched

_COUPLING = "row by row, the n-th data sets of two secrets"


@final
@dataclass(frozen=True)
class WorldDifferences:
    """The size of a scenario, as gradient descent sees it.

    Parameters
    ----------
    n_differing : int
        Most rows in which listed data sets of two protected secrets differ; 0 of drawn ones, whose
        cap says it.
    n_secrets, n_pairs, n_priors, n_draws : int
        Of the scenario; 2, 1, 1, 1 where data sets are not enumerated.
    coupling : str
        How data sets of two secrets are compared.
    """

    n_differing: int
    n_secrets: int = 2
    n_pairs: int = 1
    n_priors: int = 1
    n_draws: int = 1
    coupling: str = "row by row, any two data sets"

    @classmethod
    def of(cls, worlds: Worlds, n_differing: int) -> WorldDifferences:
        """Return the outputs of data sets that are listed, or drawn."""
        return cls(n_differing, **worlds.sizes, coupling=_COUPLING)


def world_differences(worlds: Worlds, X: Any, y: Any) -> WorldDifferences:
    """Compare the listed data sets of a scenario, row by row.

    Parameters
    ----------
    worlds : Worlds
    X : ndarray or sparse matrix of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)

    Raises
    ------
    ScenarioError
        When data sets have different numbers of rows, or none differ.

    Notes
    -----
    The n-th data sets of two secrets are compared; all with all where their numbers do not match.
    One coupling is enough for the bound, and it is the one under which other releases of the
    scenario add up. Data sets made of rows of the table are compared by which rows they are.
    """
    listed = worlds.worlds
    most = max((_differing(listed[i], listed[j], X, y) for i, j in _compared(worlds)), default=0)
    if most == 0:
        raise ScenarioError("All data sets of the scenario are the same: there is nothing to hide.")
    return WorldDifferences.of(worlds, most)


def coupled_counts(worlds: Worlds, n_rows: int) -> Integers:
    """Count the rows in which coupled draws differ (srpp, Algorithms 3 and 4).

    Parameters
    ----------
    worlds : Worlds
        Of a scenario that draws what the table could have been, the n-th draws of all secrets with
        equal random numbers.
    n_rows : int
        Of the table.

    Returns
    -------
    ndarray of int, shape (n_families, n_draws)
        One row for each prior and pair of secrets.

    Raises
    ------
    ScenarioError
        When draws have other numbers of rows than the table.
    """
    families, drawn = [], worlds.worlds
    for left, right in worlds.instances():
        pairs = zip(left.members, right.members, strict=True)
        families.append([_differing(drawn[i], drawn[j], None, None) for i, j in pairs])
    # Pairs are of one size; draws, and priors, need not be of the same one.
    sizes = {_size(drawn[i]) for left, _ in worlds.instances() for i in left.members}
    if sizes != {n_rows}:
        other = min(sizes - {n_rows})
        raise ScenarioError(
            f"The scenario draws tables of {other:,} rows and X has {n_rows:,}: they are compared "
            "row by row. Draw tables of as many rows."
        )
    return np.array(families)


def _compared(worlds: Worlds) -> Iterator[tuple[int, int]]:
    for left, right in worlds.instances():
        both = matched(left.members, right.members)
        if both is None:
            yield from product(left.members, right.members)
        else:
            yield from zip(*both, strict=True)


def _differing(left: World, right: World, X: Any, y: Any) -> int:
    rows, others = left.rows, right.rows
    if rows is None or others is None:
        tables = [world.data(X, y) for world in (left, right)]
        _check_sizes(*(table.shape[0] for table, _ in tables))
        (one, target), (two, other) = tables
        # NaN differs from itself and counts: a bound may be too large, never too small.
        differ = np.any(np.asarray(one) != np.asarray(two), axis=1)
        if target is not None:
            others = np.asarray(target) != np.asarray(other)
            differ |= others.reshape(len(others), -1).any(axis=1)
        return int(differ.sum())
    _check_sizes(rows.size, others.size)
    return int(np.sum(rows != others))


def _size(world: World) -> int:
    rows = world.rows
    return int(world.data(None, None)[0].shape[0]) if rows is None else rows.size


def _check_sizes(left: int, right: int) -> None:
    if left != right:
        raise ScenarioError(
            "The scenario's data sets have different numbers of rows. Gradient descent compares "
            "them row by row; use a scenario that lists data sets of one size."
        )
