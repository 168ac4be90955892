"""Further tables about the people of a session, and its own table without some of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.secret.secret_space import SecretSpace


@final
@dataclass(frozen=True, eq=False)
class LinkedTable:
    """Rows that belong to the units of privacy of a session.

    A session's secret is which units were used. A model of another table of the same people is
    fitted on the rows of the people in the secret subset, so it is about the same secret, shares
    its belief and spends from the same ledger.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,), optional
    groups : array-like of shape (n_rows,)
        Which unit each row belongs to: the names that the session's ``groups`` had, or, where every
        row of the session is a unit, the number of that row.

    Notes
    -----
    Secret material: it holds private rows.
    """

    X: Any = field(repr=False)
    y: Any = field(default=None, repr=False)
    groups: Any = field(kw_only=True, repr=False)


def linked_space(space: SecretSpace, names: NDArray[Any] | None, table: LinkedTable) -> SecretSpace:
    """Return the session's candidates as subsets of the rows of a linked table.

    Parameters
    ----------
    space : SecretSpace
    names : ndarray of shape (n_units,) or None
        Names of the units, sorted; None when they are numbers.
    table : LinkedTable

    Raises
    ------
    ValueError
        When a row belongs to nobody of the session. No name is quoted.
    """
    given = np.asarray(table.groups)
    if given.shape != (len(table.X),):
        raise ValueError(
            f"groups of the table must name a unit for each of its {len(table.X)} rows, got an "
            f"array of shape {given.shape}."
        )
    units = np.arange(space.n_units) if names is None else names
    named = given
    if units.dtype.kind in "iu" and given.dtype.kind in "iuf":
        # Compared as doubles, names beyond 2**53 would be each other's.
        with np.errstate(invalid="ignore"):
            named = given.astype(units.dtype)
    # Names of another type than the session's are nobody's.
    strangers = ~np.isin(named, units) | (named != given)
    if strangers.any():
        raise ValueError(
            f"groups of the table name a unit that the session does not have in {strangers.sum()} "
            "row(s). Begin the session with everybody who is in any of the tables; give names as "
            "its groups had them, or row numbers where it had none (and after PrivacySession.load)."
        )
    return replace(space, unit_of_row=np.searchsorted(units, named).astype(np.int64))
