"""Candidate subsets that hold every unit of a universe equally often."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn._validation import as_inner_share, check_integer, warn_user
from pacsklearn.exceptions import DesignError, DesignWarning
from pacsklearn.kernel.guarantee.statement_rendering import percent_up
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.universe.balanced_design import Dealt, dealt_alike
from pacsklearn.universe.frame import with_gaps

Deal = Callable[..., Dealt]

# Share of the entropy asked for below which a design is worth a warning.
_FEW = 0.75


def balanced_space(
    n_rows: int,
    *,
    n_subsets: int = 128,
    rate: float = 0.5,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    deal: Deal = dealt_alike,
    seed: int = 0,
) -> SecretSpace:
    """Deal candidate subsets so that every unit is in exactly ``rate * n_subsets`` of them.

    Parameters
    ----------
    n_rows : int
        Rows of the universe.
    n_subsets : int, default=128
        Number m of candidate subsets; ``rate * n_subsets`` must be a whole number. Where few
        units leave fewer that differ, there are fewer, and a :class:`DesignWarning`.
    rate : float, default=0.5
        Share of the subsets each unit is in.
    strata : array-like of shape (n_rows,), optional
        Labels whose shares are the same in all subsets, up to one unit (classes).
    groups : array-like of shape (n_rows,), optional
        Rows of one group move together: the group is the unit of privacy.
    deal : callable
        Puts units into subsets; by default as :func:`~pacsklearn.bounds.balanced_design` does.
    seed : int, default=0
        Public seed of the design. The adversary is assumed to know it.

    Returns
    -------
    SecretSpace

    Raises
    ------
    DesignError
        When the design does not exist or leaves some subset without rows or without one of
        the strata.

    Notes
    -----
    Source: pac-private-responses, section 4.2.1; guarantees.md, section 1.
    """
    check_integer(name="n_rows", value=n_rows, minimum=1)
    check_integer(name="n_subsets", value=n_subsets, minimum=2, maximum=2**20)
    included = included_subsets(as_inner_share("rate", rate), n_subsets)
    unit_of_row, n_units = units_of(groups, n_rows)
    needed = -(-n_subsets // included)
    if n_units < needed:
        unit = "row" if groups is None else "group"
        raise DesignError(
            f"The secret space needs at least {needed} {unit}s at rate={rate} so that no "
            f"subset is empty, got {n_units}."
        )
    codes = None
    if strata is not None:
        codes = strata_of(strata, unit_of_row, n_rows, n_units)
        rarest = int(np.bincount(codes).min())
        if rarest < needed:
            unit = "row" if groups is None else "group"
            raise DesignError(  # its name is a value of the table, which may not be public yet
                f"A class has {rarest} {unit}(s); at rate={rate} every class needs at least "
                f"{needed}, so that every subset sees every class. Leave the class out, merge it "
                "with another, or collect more of it: numpy.unique(y, return_counts=True) counts."
            )
    packed, mates = deal(n_units, n_subsets, included, strata=codes, seed=seed)
    weights = np.full(n_subsets, 1.0 / n_subsets)
    space = SecretSpace(packed, n_subsets, weights, unit_of_row, mates=mates)
    if space.entropy < _FEW * np.log(n_subsets):
        warn_user(
            f"Only {space.n_subsets} of the {n_subsets} candidate subsets are distinct: "
            f"{n_units} {space.unit}s are few. Naming the secret one blindly succeeds "
            f"with {percent_up(space.weights.max())} %, and what is promised is "
            "promised for these. Give more rows, finer groups or fewer subsets.",
            DesignWarning,
        )
    return space


def included_subsets(rate: float, n_subsets: int) -> int:
    """Return how many of the subsets every unit is in."""
    # Rates are decimals: 0.07 * 100 is not 7 in doubles.
    included = round(rate * n_subsets)
    if abs(included - rate * n_subsets) > 1e-9 or not 0 < included < n_subsets:
        raise DesignError(
            f"{n_subsets} subsets and rate={rate} do not fit: every row must be in exactly "
            f"{rate * n_subsets:g} of them, which must be a whole number between 1 and "
            f"{n_subsets - 1}. At rate=0.5 their number must be even, for instance 128."
        )
    return included


def strata_of(
    strata: ArrayLike, unit_of_row: NDArray[np.int64] | None, n_rows: int, n_units: int
) -> NDArray[np.int64]:
    """Return the stratum of each unit."""
    labels = np.asarray(strata)
    if labels.shape[:1] != (n_rows,):
        raise DesignError(
            f"strata must have one entry for each of the {n_rows} rows, got shape {labels.shape}."
        )
    axis = 0 if labels.ndim > 1 else None
    names, codes = np.unique(labels, return_inverse=True, axis=axis)
    codes = codes.reshape(-1).astype(np.int64)
    if unit_of_row is not None:
        # A group stands in the stratum most of its rows are in; where this leaves a stratum fewer
        # than two groups, in its rarest, so that every subset has rows of that one.
        counts = np.zeros((n_units, len(names)), dtype=np.int64)
        np.add.at(counts, (unit_of_row, codes), 1)
        codes, has = counts.argmax(axis=1), counts > 0
        rarest = np.where(has, has.sum(axis=0), n_units + 1).argmin(axis=1)
        is_short = np.bincount(codes, minlength=len(names)).min() < 2
        if is_short and np.unique(rarest, return_counts=True)[1].min() >= 2:
            codes = rarest
        codes = np.unique(codes, return_inverse=True)[1]
    return codes


def units_of(groups: ArrayLike | None, n_rows: int) -> tuple[NDArray[np.int64] | None, int]:
    """Return each row's unit of privacy (None: every row is its own), and their number."""
    if groups is None:
        return None, n_rows
    labels = with_gaps(groups)
    if labels.shape != (n_rows,):
        raise DesignError(
            f"groups must have one entry for each of the {n_rows} rows, such as a column, X[name], "
            f"got shape {labels.shape}."
        )
    # A nan is unequal to itself, in an array of objects too.
    if labels.dtype.kind in "fOmM" and np.any((labels != labels) | (labels == None)):  # noqa: E711, PLR0124
        raise DesignError("groups must name a group for every row, got a missing value.")
    if labels.dtype.kind in "SU" and isinstance(groups, list | tuple):
        # NumPy makes words of numbers beside words: 1 and 1.0 would be two people.
        labels = np.asarray(groups, dtype=object)
    try:
        names, units = np.unique(labels, return_inverse=True)
    except TypeError:
        raise DesignError("groups must hold words, or numbers, not both.") from None
    words = [name for name in names.tolist() if isinstance(name, str)]
    if len({word.strip().casefold() for word in words}) < len(words):
        warn_user(
            "Some names in groups differ by blanks or capitals only, and each is a unit of its "
            "own. If they name the same, make them equal first: "
            "groups.str.strip().str.casefold().",
            DesignWarning,
        )
    return units.astype(np.int64), int(names.size)
