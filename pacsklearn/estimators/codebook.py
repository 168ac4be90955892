"""The ``schema`` of a fit: by which public facts, or facts of the table, its rows are read."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pacsklearn._validation import is_word
from pacsklearn.estimators.subsets import stated_secret
from pacsklearn.estimators.table_space import space_for
from pacsklearn.kernel.plugins.registry import registry

if TYPE_CHECKING:
    from pacsklearn.estimators.pac_private import PACPrivate

FROM_TABLE: Final = "from table"
"""Consent to look categories and ranges up in the table and to publish them exactly."""


class Codebook(ABC):
    """How estimators read a table by a codebook: a kind for our own distributions."""

    name: ClassVar[str]

    @abstractmethod
    def read(self, given: Any, estimator: Any, X: Any, groups: Any) -> Any:
        """Return the estimator that reads rows by the codebook that an argument states.

        Parameters
        ----------
        given : object
            The user's argument.
        estimator : estimator or Alternatives
        X : table
        groups : array-like of shape (n_rows,), optional

        Raises
        ------
        ValueError
        """


def through_codebook(model: PACPrivate, X: Any, groups: Any) -> PACPrivate:
    """Return the model of a fit, whose estimator reads rows by its ``schema``.

    Raises
    ------
    ValueError
    """
    if space_for(X) is not None:
        raise ValueError(
            f"schema must be None for a {type(X).__name__}, which is read in passes: begin the "
            "estimator with SchemaEncoder(schema)."
        )
    check_consent(model.schema, model.secret)
    codebook = registry().make("codebook", "schema")
    reading = copy.copy(model)
    reading.estimator = codebook.read(model.schema, model.estimator, X, groups)
    release: Any = copy.copy(model.release)
    if getattr(release, "student", None) is not None:
        release.student = codebook.read(model.schema, release.student, X, groups)
        reading.release = release
    return reading


def check_consent(schema: Any, secret: Any) -> None:
    """Refuse to publish facts of a table of which any subset may be the secret.

    Raises
    ------
    ValueError
    """
    if is_word(schema, FROM_TABLE) and not stated_secret(secret).is_listed:
        raise ValueError(
            f"schema={FROM_TABLE!r} needs secret=Subsets(): what is looked up in the table is a "
            "constant beside a list of subsets, and SampledSubsets() has none. Give the path of a "
            "public codebook."
        )
