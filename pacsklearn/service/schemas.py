"""Bodies of requests in the OpenAPI document, where a handler reads them itself."""

from __future__ import annotations

from typing import Any, Final

_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}
_PARAMETERS: Final = {
    "type": "object",
    "properties": {
        "max_charge": {"type": "number", "minimum": 0},
        "dry_run": {"type": "boolean"},
        "reservation": {"type": "string"},
    },
}
_TENSOR: Final = {
    "type": "object",
    "required": ["name", "shape", "datatype"],
    "properties": {
        "name": {"type": "string"},
        "shape": {
            "type": "array",
            "items": {"type": "integer", "minimum": 0},
            "minItems": 1,
            "maxItems": 2,
        },
        "datatype": {
            "type": "string",
            "enum": [
                "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64",
                "FP16", "FP32", "FP64", "BYTES",
            ],
        },
        "data": {"type": "array"},
    },
}  # fmt: skip
_V2: Final = {
    "type": "object",
    "required": ["inputs"],
    "properties": {
        "id": {"type": "string", "maxLength": 200},
        "parameters": _PARAMETERS,
        "inputs": {"type": "array", "items": _TENSOR, "minItems": 1},
        "outputs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}},
            },
        },
    },
}
_BYTES: Final = {"schema": {"type": "string", "format": "binary"}}
_ARROW: Final = {
    "application/vnd.apache.arrow.stream": _BYTES,
    "application/vnd.apache.parquet": _BYTES,
}


def _body(*contents: dict[str, Any], header: bool = True) -> dict[str, Any]:
    content = {name: each for some in contents for name, each in some.items()}
    return {
        "requestBody": {"required": True, "content": content},
        "parameters": [_KEY] if header else [],
    }


V2_BODY: Final = _body({"application/json": {"schema": _V2}}, _ARROW)
INVOCATION_BODY: Final = _body(
    {
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {
                    "dataframe_split": {"type": "object"},
                    "dataframe_records": {"type": "array"},
                    "instances": {"type": "array"},
                    "inputs": {},
                    "params": _PARAMETERS,
                },
            }
        },
        "text/csv": {"schema": {"type": "string"}},
    },
    _ARROW,
)
ROWS_BODY: Final = _body({"application/json": {"schema": _V2}}, _ARROW, header=False)
TABLE_BODY: Final = _body(
    {
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["columns"],
                "properties": {
                    "columns": {"type": "object", "additionalProperties": {"type": "array"}}
                },
            }
        },
        "text/csv": {"schema": {"type": "string"}},
    },
    _ARROW,
    header=False,
)
