"""In how many rows the data sets of a scenario differ."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.scenario import Scenario, SecretColumn, Worlds
from pacsklearn.exceptions import ScenarioError
from pacsklearn.scenarios.differing_rows import DifferingRows

__all__ = ["WorldDifferences", "world_differences"]

Digests = NDArray[np.bytes_]


@final
@dataclass(frozen=True)
class WorldDifferences:
    """The size of a scenario, as gradient descent sees it.

    Parameters
    ----------
    n_differing : int
        Most rows in which data sets of two protected secrets differ.
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


def world_differences(
    scenario: Scenario, X: NDArray[Any], y: Any, secret: SecretColumn | None
) -> WorldDifferences:
    """Compare the data sets of a scenario row by row.

    Parameters
    ----------
    scenario : Scenario
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
    secret : as for :meth:`~pacsklearn.core.scenario.Scenario.worlds`

    Raises
    ------
    ScenarioError
        When data sets have different numbers of rows, none differ, or they are not listed.

    Notes
    -----
    The n-th data sets of two secrets are compared; all with all where their numbers do not match.
    One coupling is enough for the bound, and it is the one under which other releases of the
    scenario add up. Rows are compared by a digest of 128 bits.
    """
    if isinstance(scenario, DifferingRows):
        return WorldDifferences(scenario.checked_count(X.shape[0]))
    if not scenario.redrawn:
        raise ScenarioError(
            f"{type(scenario).__name__} knows what the table could have been by draws only, which "
            "bound no number of rows; use PrevalenceScenario, GroupScenario or DifferingRows."
        )
    worlds = scenario.worlds(X, y, secret)
    digests = [_digests(*world.data(X, y)) for world in worlds.worlds]
    if len({len(each) for each in digests}) > 1:
        raise ScenarioError(
            "The scenario's data sets have different numbers of rows. Gradient descent compares "
            "them row by row; use a scenario that lists data sets of one size."
        )
    most = max(int(np.sum(digests[i] != digests[j])) for i, j in _compared(worlds))
    if most == 0:
        raise ScenarioError("All data sets of the scenario are the same: there is nothing to hide.")
    return WorldDifferences(
        n_differing=most,
        n_secrets=len(worlds.secrets),
        n_pairs=len(worlds.pairs),
        n_priors=len(worlds.priors),
        n_draws=worlds.n_draws,
        coupling="row by row, the n-th data sets of two secrets",
    )


def _compared(worlds: Worlds) -> Iterator[tuple[int, int]]:
    for left, right in worlds.instances():
        i, j = left.members, right.members
        n = max(len(i), len(j))
        if n % len(i) or n % len(j):
            yield from ((a, b) for a in i for b in j)
        else:
            yield from zip(i * (n // len(i)), j * (n // len(j)), strict=True)


def _digests(X: Any, y: Any) -> Digests:
    rows = np.ascontiguousarray(X)
    targets = np.asarray(y)
    marks = targets.tolist()
    return np.array(
        [
            hashlib.blake2b(row.tobytes() + repr(mark).encode(), digest_size=16).hexdigest()
            for row, mark in zip(rows, marks, strict=True)
        ],
        dtype="S32",
    )
