"""The ``schema`` of a fit: a codebook, a file with one, or facts looked up in the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any, final

from pacsklearn.estimators.alternatives import options_of
from pacsklearn.estimators.codebook import FROM_TABLE, Codebook
from pacsklearn.tabular.schema.apply_schema import read_by
from pacsklearn.tabular.schema.schema import Schema
from pacsklearn.universe.frame import column_names
from pacsklearn.universe.row_rules import check_names


@final
class SchemaArgument(Codebook):
    """Schemas, for every estimator."""

    name = "schema"

    def read(self, given: Any, estimator: Any, X: Any, groups: Any) -> Any:
        schema, names = stated_schema(given, X, groups), column_names(X)
        return options_of(estimator).through(lambda one: read_by(one, schema, names))


def stated_schema(given: Any, X: Any, groups: Any = None) -> Schema:
    """Return the schema by a user's argument.

    Parameters
    ----------
    given : Schema, str or Path
    X : table
        Looked up only by ``"from table"``.
    groups : array-like of shape (n_rows,), optional

    Raises
    ------
    ValueError, TypeError
    """
    if isinstance(given, Schema):
        return given
    if given == FROM_TABLE:
        check_names(X)
        return Schema.from_table(X, groups)
    if not isinstance(given, (str, Path)) or not Path(given).is_file():
        shown = repr(str(given)) if isinstance(given, (str, Path)) else type(given).__name__
        raise ValueError(
            f"schema must be a Schema, the path of a codebook in JSON or YAML, or {FROM_TABLE!r}, "
            f"got {shown}."
        )
    return Schema.read(given)
