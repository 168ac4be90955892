"""Estimators that read rows by a public codebook."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class CodebookReader(Protocol):
    """Estimator that says beforehand which parameters and tables it would refuse.

    Errors inside a candidate quote nothing, so it is asked before the first fit. Its own
    may name columns, counts and parameters, and no value of a row. It takes rows with gaps.
    """

    def check_codebook(self) -> None:
        """Refuse parameters, and a codebook that cannot be used."""

    def check_table(self, X: Any) -> None:
        """Refuse a table that does not suit the codebook; the estimator stays unfitted."""
