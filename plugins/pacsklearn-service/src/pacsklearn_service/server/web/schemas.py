"""Bodies that a handler reads itself: what they must hold, and how OpenAPI describes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import takewhile
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from starlette.datastructures import QueryParams

from pacsklearn_service.server.problem import Problem

JSON: Final = "application/json"
CSV: Final = "text/csv"
ARROW: Final = "application/vnd.apache.arrow.stream"
PARQUET: Final = "application/vnd.apache.parquet"

Body = TypeVar("Body", bound=BaseModel)
Said = TypeVar("Said")
Datatype = Literal[
    "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64",
    "FP16", "FP32", "FP64", "BYTES",
]  # fmt: skip
DTYPES: Final = {
    "BOOL": "?",
    **{f"UINT{8 * n}": f"<u{n}" for n in (1, 2, 4, 8)},
    **{f"INT{8 * n}": f"<i{n}" for n in (1, 2, 4, 8)},
    **{f"FP{8 * n}": f"<f{n}" for n in (2, 4, 8)},
}


Value = bool | int | float | str
_VALUES: Final = ("bool", "int", "float", "str")
_WHETHER: Final = ("missing", "extra_forbidden")
"""Errors of a field that is there or not, which may be called as a type of values is."""
Table = Annotated[list[list[Value]], Field(min_length=1)]
Records = Annotated[list[dict[str, Value]], Field(min_length=1)]


class _Strict(BaseModel):
    # A misspelt max_charge, or parameters, must not be a request without one. Frozen: a default is
    # copied for every request otherwise.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _said(cls, facts: Any) -> Any:
        # Clients send null for what they do not say.
        if isinstance(facts, dict):
            return {name: each for name, each in facts.items() if each is not None}
        return facts


class Parameters(_Strict):
    """What a request for answers says beside its rows."""

    max_charge: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    dry_run: bool = False
    reservation: str | None = None
    binary_data_output: bool = False


class TensorParameters(_Strict):
    """Length of a tensor that stands after the JSON."""

    binary_data_size: Annotated[int, Field(ge=0)] | None = None


class Tensor(_Strict):
    """One input of the Open Inference Protocol."""

    name: str
    shape: Annotated[list[Annotated[int, Field(ge=0, lt=2**40)]], Field(min_length=1, max_length=2)]
    datatype: Datatype
    data: list[Value] | list[list[Value]] | None = None
    parameters: TensorParameters = TensorParameters()


class OutputParameters(_Strict):
    """Whether an output is wanted as bytes."""

    binary_data: bool = False


class Output(_Strict):
    """One output that is wanted."""

    name: Literal["predict", "predict_proba"]
    parameters: OutputParameters = OutputParameters()


class V2Body(_Strict):
    """Request of the Open Inference Protocol."""

    id: Annotated[str, Field(max_length=200)] = ""
    model_name: Annotated[str, Field(max_length=200)] = ""  # as KServe's client repeats it
    inputs: Annotated[list[Tensor], Field(min_length=1, max_length=10_000)]
    outputs: list[Output] = []
    parameters: Parameters = Parameters()


class Split(_Strict):
    """Rows, and the names of their columns."""

    columns: list[str] | None = None
    index: list[Any] | None = None
    data: Table


class Invocation(_Strict):
    """Request of MLflow's scoring server: one of four forms of a table."""

    dataframe_split: Split | None = None
    dataframe_records: Records | None = None
    instances: Table | Records | None = None
    inputs: Table | dict[str, list[Value]] | None = None
    params: Parameters = Parameters()


class Columns(_Strict):
    """A table that the curator registers."""

    columns: dict[str, list[Value]]


def parsed(read: Callable[[Said], Body], said: Said) -> Body:
    """Return what a body, or an address, says to a model's way of reading it.

    Raises
    ------
    Problem
        Names fields; the request's own words are in none of it.
    """
    try:
        return read(said)
    except ValidationError as error:
        raise invalid(error.errors()) from None


def parsed_json(kind: type[Body], content: bytes) -> Body:
    """Return what a JSON body says; of a name that stands twice nobody knows what is meant."""
    with suppress(ValueError, RecursionError):  # pydantic says what is wrong with it
        json.loads(content, object_pairs_hook=_named_once)
    return parsed(kind.model_validate_json, content)


def query(stated: QueryParams) -> Parameters:
    """Return the parameters that an address holds, where the body is a table."""
    facts = _named_once(stated.multi_items())
    facts.pop("model", None)
    # All are texts there: a number is one that can be read as such.
    return parsed(partial(Parameters.model_validate, strict=False), facts)


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, or an address's parameters.

    Raises
    ------
    Problem
        When a name stands twice: one of two values of max_charge would be passed over.
    """
    facts = dict(pairs)
    if len(facts) != len(pairs):
        raise Problem("invalid", "Every name in an object, or in the address, must stand once.")
    return facts


def invalid(errors: Any) -> Problem:
    """Return the refusal that names fields, and what each must be; it quotes nothing of values."""
    if any(each["type"] == "json_invalid" for each in errors):
        return Problem("bad-request", "The body must be JSON in UTF-8, without a Content-Encoding.")
    fields: dict[str, str] = {}
    for each in errors:
        parts, words = [str(part) for part in each["loc"]], f" ({each['msg']})"
        if each["type"] == "less_than_equal":  # three hundred digits of 1e300 say nothing
            words = f" (Input should be less than or equal to {each['ctx']['le']:.16g})"
        # Where a value may have one of several forms, without what each of them lacks.
        whole = list(takewhile(lambda part: "[" not in part, parts))
        if whole == parts and parts[-1:] and parts[-1] in _VALUES and each["type"] not in _WHETHER:
            whole = parts[:-1]
        # A validator's own words may quote the value.
        is_plain = whole == parts and "error" not in each.get("ctx", {})
        fields.setdefault(".".join(whole) or "the body", words if is_plain else "")
    known = [n + words for n, words in sorted(fields.items()) if len(n) < 100 and n.isascii()]
    named = ", ".join(known[:5]) or "one whose name is long, or not ASCII"
    return Problem("invalid", f"These fields are missing, unknown or not valid: {named}.")


def _described(kind: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema without references to outside an operation's document."""
    schema = kind.model_json_schema()
    definitions = schema.pop("$defs", {})

    def whole(part: Any) -> Any:
        if isinstance(part, list):
            return [whole(each) for each in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return whole(definitions[part["$ref"].rpartition("/")[2]])
        return {name: whole(each) for name, each in part.items()}

    described: dict[str, Any] = whole(schema)
    return described


def _body(schema: dict[str, Any], *tables: str, key: bool = False) -> dict[str, Any]:
    binary = {"schema": {"type": "string", "format": "binary"}}
    content = {JSON: {"schema": schema}} | dict.fromkeys(tables, binary)
    own = {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "schema": {"type": "string", "minLength": 1, "maxLength": 200},
    }
    return {"requestBody": {"required": True, "content": content}, "parameters": [own] * key}


V2_BODY: Final = _body(_described(V2Body), ARROW, key=True)
V2_BODY["parameters"].append(
    {"name": "model", "in": "path", "required": True, "schema": {"type": "string"}}
)
ROWS_BODY: Final = _body(_described(V2Body), ARROW, CSV)
INVOCATION_BODY: Final = _body(_described(Invocation), ARROW, CSV, key=True)
TABLE_BODY: Final = _body(_described(Columns), ARROW, CSV, PARQUET)
