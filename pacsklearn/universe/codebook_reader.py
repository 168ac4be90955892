"""Estimators that read rows by a public codebook."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from pacsklearn._validation import has_params


@runtime_checkable
class CodebookReader(Protocol):
    """Estimator that says beforehand which parameters and tables it would refuse.

    Errors inside a candidate quote nothing, so it is asked before the first fit. Its own
    may name columns, counts and parameters, and no value of a row. It takes rows with gaps.

    Attributes
    ----------
    schema : object or None
        The codebook; ``published`` are facts in it that were looked up in the protected rows and
        are published exactly, in words.
    """

    schema: Any

    def check_codebook(self) -> None:
        """Refuse parameters, and a codebook that cannot be used."""

    def check_table(self, X: Any) -> None:
        """Refuse a table that does not suit the codebook; the estimator stays unfitted."""


def readers_of(estimator: Any) -> list[CodebookReader]:
    """Return the estimator and its parts that read tables by a public codebook."""
    parts = (estimator, *estimator.get_params(deep=True).values())
    return [
        part for part in parts if isinstance(part, CodebookReader) and not isinstance(part, type)
    ]


def published_facts(estimator: Any) -> tuple[str, ...]:
    """Return in words the facts of the table that an estimator's codebooks publish."""
    if not has_params(estimator):
        return ()  # no estimator, which is refused in words of its own
    schemas = [one.schema for one in readers_of(estimator)]
    facts = [fact for schema in schemas for fact in getattr(schema, "published", ())]
    return tuple(dict.fromkeys(facts))


def refuse_published(estimator: Any, why: str) -> None:
    """Refuse an estimator whose codebook was looked up in the protected table.

    Raises
    ------
    ValueError
    """
    if published_facts(estimator):
        raise ValueError(
            f"{type(estimator).__name__} reads rows by facts that were looked up in the table "
            f"(schema='from table'), and {why}. Give a public codebook: "
            "Schema.read('codebook.yaml')."
        )
