"""Where a student's queries come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.sparse import issparse

from pacsklearn._validation import warn_user
from pacsklearn.exceptions import UtilityWarning
from pacsklearn.tabular.schema.queries import SchemaQueries
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.universe.frame import as_pandas, column_names

FEW_ROWS = 2000
"""So many queries are asked at least, where there are public rows to make them from."""


@final
@dataclass(frozen=True, eq=False)
class StudentQueries:
    """Where a student's queries come from.

    Parameters
    ----------
    source : SchemaQueries, callable or rows
    words : str
        The same for the guarantee.
    """

    source: Any
    words: str

    @classmethod
    def of(cls, given: Any) -> StudentQueries:
        """Return the queries from a user's argument.

        Raises
        ------
        ValueError
            When none were given, or something else.
        """
        if isinstance(given, Schema):
            return cls(SchemaQueries(given), "made up, uniform over the public schema")
        if isinstance(given, SchemaQueries):
            if given.is_private:
                words = "made up from marginals that this session released privately"
            elif given.marginals is None:
                words = "made up, uniform over the public schema"
            else:
                words = "made up from public marginals"
            return cls(given, words)
        if callable(given):
            return cls(given, "made by a public generator")
        n_rows = int(_checked(given, "got").shape[0])
        few = n_rows < FEW_ROWS
        return cls(given, f"{n_rows:,} public rows{' and others crossed from them' * few}")

    def rows(self, like: Any, released: Callable[[SchemaQueries], Any]) -> Any:
        """Return the queries; ``released`` gives noisy marginals where those are private."""
        if isinstance(self.source, SchemaQueries):
            described = [column.name for column in self.source.schema]
            absent = [name for name in column_names(like) or () if name not in described]
            if absent:
                warn_user(
                    f"The schema of queries= lacks the columns {', '.join(absent)}, so every query "
                    "has them missing. Add them to it; those that the teacher leaves out, as "
                    "Column(name, 'ignored').",
                    UtilityWarning,
                )
            marginals = released(self.source) if self.source.is_private else None
            return self.source.rows(marginals, like)
        # A public seed: queries are no secret, and the same rows are asked when it is run again.
        if callable(self.source):
            return _checked(self.source(np.random.default_rng(0)), "the callable returned")
        return with_crossed(_checked(self.source, "got"))


def _checked(rows: Any, whence: str) -> Any:
    """Return public rows as an array or a DataFrame, if they are rows."""
    shape = np.shape(rows := as_pandas(rows))
    if len(shape) != 2 or not shape[0]:
        given = "none" if rows is None else f"{type(rows).__name__} of shape {shape}"
        raise ValueError(
            "queries must be public rows, a public Schema (rows are made up from it), "
            "SchemaQueries(schema, marginals) with public or private marginals, or a callable "
            f"that makes rows from a numpy generator; {whence} {given}."
        )
    return rows if hasattr(rows, "shape") else np.asarray(rows)


def with_crossed(rows: Any) -> Any:
    """Return the public rows, and where they are few, made-up ones after them.

    A function of public rows.

    A made-up row has each of its values from the one or the other of two public rows.

    Parameters
    ----------
    rows : ndarray or DataFrame of shape (n, n_columns)

    Returns
    -------
    ndarray or DataFrame of shape (max(n, 2000), n_columns)
        As given where nothing can be crossed: one row, one column, a sparse matrix, images.

    Notes
    -----
    Source: uniform crossover (Syswerda, 1989). Unlike rows halfway between two others, these are
    as far apart as the public ones, in every column.
    """
    n_rows = int(rows.shape[0])
    if not 2 <= n_rows < FEW_ROWS or issparse(rows) or len(rows.shape) != 2 or rows.shape[1] < 2:
        return rows
    generator = np.random.default_rng(0)  # public, as the rows are
    size = (FEW_ROWS - n_rows, rows.shape[1])
    first, second = generator.integers(n_rows, size=(2, size[0], 1))
    chosen = np.where(generator.random(size) < 0.5, first, second)
    if not hasattr(rows, "columns"):
        return np.concatenate([rows, np.take_along_axis(rows, chosen, axis=0)])
    import pandas as pd

    made = [
        rows.iloc[taken, position].reset_index(drop=True) for position, taken in enumerate(chosen.T)
    ]
    return pd.concat([rows, pd.concat(made, axis=1)], ignore_index=True)
