"""Frictionless Table Schema, read and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from difflib import get_close_matches
from typing import Any

from pacsklearn.tabular.schema.column import KINDS, Column
from pacsklearn.tabular.schema.values import SPELLINGS, key_of

_KIND_OF_TYPE = {
    "integer": "number",
    "number": "number",
    "year": "number",
    "boolean": "boolean",
    "date": "date",
    "datetime": "date",
    "yearmonth": "date",
    "string": "text",
}
_IGNORED = ("any", "array", "duration", "geojson", "geopoint", "list", "object", "time")
_TYPE_OF_KIND = {
    "number": "number",
    "category": "string",
    "boolean": "boolean",
    "date": "date",
    "text": "string",
    "ignored": "any",
}
# What Table Schema has no word for.
_OWN = ("scale", "edges", "other", "vocabulary", "looked_up", "confirmed", "published")

# What is read; other words are for people, or for other programs.
_READ: Mapping[str, Sequence[str]] = {
    "The Table Schema": ("fields", "missingValues", "pacsklearn"),
    "Field": (
        *("name", "type", "constraints", "missingValues", "categories", "categoriesOrdered"),
        *("trueValues", "falseValues", "pacsklearn"),
    ),
    "constraints": ("minimum", "maximum", "required", "enum"),
}


def from_table_schema(document: Any) -> Iterator[Column]:
    """Yield the columns of a descriptor.

    Raises
    ------
    ValueError
        When it is none; the message names the field.
    """
    document = _only_resource(document)
    if isinstance(document, Mapping):
        _check_spelling(document, "The Table Schema", "The Table Schema")
    fields = document.get("fields") if isinstance(document, Mapping) else None
    if not isinstance(fields, list):
        got = "no fields" if isinstance(document, Mapping) else type(document).__name__
        raise ValueError(
            "A Table Schema is an object with a list 'fields', one entry for each column; got "
            f"{got if fields is None else f'fields of type {type(fields).__name__}'}."
        )
    everywhere = _codes(document.get("missingValues", ()))
    for position, field in enumerate(fields):
        if not isinstance(field, Mapping) or not isinstance(field.get("name"), str):
            raise ValueError(
                f"Field {position} of the Table Schema has no name that is a text; give it one, in "
                "quotes where it is a number, a date or a word such as yes."
            )
        _check_spelling(field, "Field", f"Field {field['name']!r}")
        yield _column(field, everywhere)


def _check_spelling(given: Mapping[Any, Any], part: str, where: str) -> None:
    """Refuse a word that is nearly one that is read, which would then be left out in silence."""
    absent = {word.lower(): word for word in _READ[part] if word not in given}
    for word in map(str, given):
        if word in _READ[part]:
            continue
        near = get_close_matches(word.lower(), absent, n=1, cutoff=0.85)
        near = near or [one for one in absent if sorted(one) == sorted(word.lower())]
        if near:
            raise ValueError(f"{where}: {word!r} is not read; did you mean {absent[near[0]]!r}?")


def _only_resource(document: Any) -> Any:
    """Return the table schema of a Frictionless data package with one table, or of a resource."""
    if not isinstance(document, Mapping) or "fields" in document:
        return document
    if isinstance(resources := document.get("resources"), list):
        if len(resources) != 1:
            raise ValueError(
                f"The data package has {len(resources)} resources, and a Schema is about one "
                "table; give the 'schema' of one resource."
            )
        document = resources[0]
    schema = document.get("schema") if isinstance(document, Mapping) else None
    return document if schema is None else schema


def to_table_schema(columns: Iterable[Column]) -> dict[str, Any]:
    """Return the descriptor of these columns."""
    return {"fields": [_field(column) for column in columns]}


def _column(field: Mapping[str, Any], everywhere: tuple[Any, ...]) -> Column:
    name, kind = field["name"], _kind(field)
    limits, own = field.get("constraints", {}), field.get("pacsklearn", {})
    if not isinstance(limits, Mapping) or not isinstance(own, Mapping):
        raise ValueError(f"Field {name!r}: constraints and pacsklearn must be objects.")
    _check_spelling(limits, "constraints", f"Field {name!r}")
    unknown = sorted(own.keys() - {*_OWN, "kind"})
    if unknown:
        raise ValueError(
            f"Field {name!r}: pacsklearn has no entry {unknown[0]!r}; it has kind, "
            f"{', '.join(_OWN)}."
        )
    word = "categories" if "categories" in field else "enum"
    listed = field.get("categories", limits.get("enum"))
    if kind == "boolean":
        listed = [_truth(field, "falseValues", False), _truth(field, "trueValues", True)]
    elif listed is not None:
        kind, listed = "category", _values(listed, f"Field {name!r}: {word}")
    kind = own.get("kind", kind)
    if kind not in KINDS:
        raise ValueError(f"Field {name!r}: kind must be one of {', '.join(KINDS)}, got {kind!r}.")
    with_range = kind in ("number", "date")
    more: dict[str, Any] = {key: own[key] for key in _OWN if key in own}
    return Column(
        name,
        kind,
        low=limits.get("minimum") if with_range else None,
        high=limits.get("maximum") if with_range else None,
        categories=listed if kind in ("category", "boolean") else (),
        ordered=field.get("categoriesOrdered", False),
        missing=_codes(field["missingValues"]) if "missingValues" in field else everywhere,
        required=limits.get("required", False),
        **more,
    )


def _kind(field: Mapping[str, Any]) -> str:
    stated = field.get("type", "string")
    if not isinstance(stated, str) or stated not in {*_KIND_OF_TYPE, *_IGNORED}:
        raise ValueError(
            f"Field {field['name']!r}: type must be one of {', '.join((*_KIND_OF_TYPE, *_IGNORED))}"
            f", got {stated!r}."
        )
    return _KIND_OF_TYPE.get(stated, "ignored")


def _truth(field: Mapping[str, Any], word: str, truth: bool) -> Any:
    """Return what stands for a truth value; it itself for several of its usual spellings."""
    values = _values(field.get(word, [truth]), f"Field {field['name']!r}: {word}")
    if len(values) == 1:
        return values[0]
    if values and {key_of(value) for value in values} <= {str(truth), *SPELLINGS[str(truth)]}:
        return truth
    raise ValueError(
        f"Field {field['name']!r}: {word} must be one value, got {len(values)}; make the table "
        "say it in one way."
    )


_LISTS = ("edges", "vocabulary", "looked_up")


def _field(column: Column) -> dict[str, Any]:
    field: dict[str, Any] = {"name": column.name, "type": _TYPE_OF_KIND[column.kind]}
    field |= _values_of(column)
    limits = {
        "required": column.required or None,
        "minimum": _written(column.low),
        "maximum": _written(column.high),
    }
    parts = {
        "constraints": {word: value for word, value in limits.items() if value is not None},
        "missingValues": list(column.missing),
        "pacsklearn": _own_words(column),
    }
    return field | {word: part for word, part in parts.items() if part}


def _values_of(column: Column) -> dict[str, Any]:
    if column.kind == "boolean":
        no, yes = column.categories
        return {"falseValues": [no], "trueValues": [yes]}
    if not column.categories:
        return {}
    # Any other is compared by its text, which JSON can hold.
    listed = [
        value if isinstance(value, (str, int, float)) else key_of(value)
        for value in column.categories
    ]
    numbers = all(type(value) is int for value in column.categories)
    values = {"type": "integer" if numbers else "string", "categories": listed}
    return values | ({"categoriesOrdered": True} if column.ordered else {})


def _own_words(column: Column) -> dict[str, Any]:
    own: dict[str, Any] = {"kind": column.kind} if column.kind == "ignored" else {}
    for key in _OWN:
        value = getattr(column, key)
        if value != getattr(Column, key):
            own[key] = [_written(one) for one in value] if key in _LISTS else value
    return own


def _codes(given: Any) -> tuple[Any, ...]:
    """Return the codes of missing values; the empty text is always one."""
    return tuple(value for value in _values(given, "missingValues") if value != "")


def _values(given: Any, what: str) -> tuple[Any, ...]:
    """Return the entries of a list of values, which may have labels."""
    values: list[Any] = [None]
    if isinstance(given, (list, tuple)):
        values = [one.get("value") if isinstance(one, Mapping) else one for one in given]
    if any(not isinstance(one, (str, int, float, date)) for one in values):
        raise ValueError(
            f"{what} must be a list of values, or of objects with a value and a label."
        )
    return tuple(values)


def _written(end: Any) -> Any:
    return end.isoformat() if isinstance(end, (date, datetime)) else end
