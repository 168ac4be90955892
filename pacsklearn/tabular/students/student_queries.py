"""Where a student's queries come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pacsklearn.tabular.schema.queries import SchemaQueries
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.tabular.students.crossed_rows import FEW_ROWS, with_crossed
from pacsklearn.universe.frame import as_pandas


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
        shape = np.shape(as_pandas(given))
        if len(shape) != 2 or not shape[0]:
            raise ValueError(
                "queries must be public rows, a public Schema (rows are made up from it), "
                "SchemaQueries(schema, marginals) with public or private marginals, or a callable "
                "that makes rows from a numpy generator; got "
                f"{type(given).__name__} of shape {shape}."
            )
        n_rows = shape[0]
        few = n_rows < FEW_ROWS
        return cls(given, f"{n_rows:,} public rows{' and others crossed from them' * few}")

    def rows(self, like: Any, released: Callable[[SchemaQueries], Any]) -> Any:
        """Return the queries; ``released`` gives noisy marginals where those are private."""
        if isinstance(self.source, SchemaQueries):
            marginals = released(self.source) if self.source.is_private else None
            return self.source.rows(marginals, like)
        # A public seed: queries are no secret, and the same rows are asked when it is run again.
        queries = self.source(np.random.default_rng(0)) if callable(self.source) else self.source
        queries = as_pandas(queries)
        queries = queries if hasattr(queries, "shape") else np.asarray(queries)
        return queries if callable(self.source) else with_crossed(queries)
