"""Write the JSON Schema of guarantees from the fields of the classes, for the docs and the package.

Run it when a guarantee or a kind of secret gets a field: ``python scripts/guarantee_schema.py``.
Once version 1 has been released, what adds, drops or redefines a field is a version of its own.
"""

from __future__ import annotations

import dataclasses
import json
import re
import types
import typing
from pathlib import Path
from typing import Any

from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.kernel.guarantee.status import Reliance
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.srpp.laws.sliced_law import RenyiCosts
from pacsklearn.srpp.release.pufferfish_guarantee import BayesSuccess, PufferfishGuarantee

ROOT = Path(__file__).parents[1]
PLACES = (ROOT / "pacsklearn" / "plots" / "schemas", ROOT / "docs" / "schema")
FILE = "guarantee-1.json"

SHARES = {
    "confidence",
    "prior_membership",
    "prior_identification",
    "posterior_membership",
    "posterior_identification",
    "certified_membership",
    "certified_confidence",
    "delta",
    "pair",
    "pair_slice",
    "secret",
    "secret_slice",
    "secret_blind",
}
SIGNED = {"residual_privacy", "intrinsic_privacy"}
DERIVED = (
    "posterior_membership",
    "posterior_identification",
    "remaining_entropy",
    "intrinsic_privacy",
    "residual_privacy",
)
REFERENCES = {Provenance: "plugin", RenyiCosts: "costs", BayesSuccess: "success"}


def rule(kind: Any, name: str) -> dict[str, Any]:
    """What the schema says of a field of a type."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        (given,) = (part for part in parts if part is not type(None))
        found = rule(given, name)
        if "$ref" in found:
            return {"anyOf": [found, {"type": "null"}]}
        return found | {"type": [found["type"], "null"]}
    if origin is tuple and len(parts) == 2 and parts[1] is Ellipsis:
        return {"type": "array", "items": rule(parts[0], name)}
    if origin is tuple:
        items = [rule(part, "") for part in parts]
        size = len(parts)
        return {
            "type": "array",
            "prefixItems": items,
            "minItems": size,
            "maxItems": size,
            "items": False,
        }
    if kind in REFERENCES:
        return {"$ref": f"#/$defs/{REFERENCES[kind]}"}
    if kind is float:
        ends = {} if name in SIGNED else {"minimum": 0}
        return {"type": "number", **ends, **({"maximum": 1} if name in SHARES else {})}
    return {
        bool: {"type": "boolean"},
        int: {"type": "integer", "minimum": 0},
        str: {"type": "string"},
    }[kind]


def words(text: str) -> str:
    """Docstring without its markup, on one line."""
    return re.sub(r":[a-z]+:|`|~", "", " ".join(text.split()))


def descriptions(kind: type) -> dict[str, str]:
    """What the docstring says of each field."""
    pattern = r"^    ([a-z_, ]+) : [^\n]+\n((?:        [^\n]+\n|\n(?=        ))+)"
    found = re.finditer(pattern, (kind.__doc__ or "") + "\n", re.MULTILINE)
    return {name.strip(): words(m[2]) for m in found for name in m[1].split(",")}


def properties(kind: type) -> dict[str, Any]:
    """Rules of all fields of a dataclass but its secret."""
    hints, texts = typing.get_type_hints(kind), descriptions(Guarantee) | descriptions(kind)
    rules = {}
    for field in dataclasses.fields(kind):
        if field.name == "secret" and kind is not BayesSuccess:
            continue
        rules[field.name] = rule(hints[field.name], field.name)
        if field.name in texts and "$ref" not in rules[field.name]:
            rules[field.name]["description"] = texts[field.name]
    return rules


def record(rules: dict[str, Any], text: str) -> dict[str, Any]:
    """An object with exactly these fields."""
    return {
        "type": "object",
        "description": text,
        "properties": rules,
        "required": list(rules),
        "additionalProperties": False,
    }


def first_line(kind: type) -> str:
    return words((kind.__doc__ or "").strip().splitlines()[0])


def promise(kind: Any, defs: dict[str, Any]) -> dict[str, Any]:
    """A kind of guarantee; the kinds of its secret are added to the definitions."""
    kinds = []
    for secret in kind.secret_kinds():
        named = {"kind": {"const": secret.name}, **properties(secret)}
        defs[f"secret_{secret.name}"] = record(named, first_line(secret))
        kinds.append({"$ref": f"#/$defs/secret_{secret.name}"})
    text = {"type": "string", "minLength": 1}
    rules = {
        "schema": {"const": "pacsklearn-guarantee/1"},
        "scope": {
            "type": "string",
            "description": (
                "What the promise is about; other releases about the same rows are not in it."
            ),
        },
        "framework": {"const": kind.name},
        "status": record(
            {
                "kind": {"enum": [str(one) for one in Reliance]},
                "reason": text | {"description": "What it rests on, or why it must not leave."},
            },
            "How far the promise can be relied on.",
        ),
        "promise": text | {"description": "The promise in plain sentences."},
        "threat_model": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What the adversary can do and knows, a sentence each.",
        },
        "secret": {"oneOf": kinds},
        **properties(kind),
    }
    for name in DERIVED if kind is PACGuarantee else ():
        derived = getattr(kind, name)
        rules[name] = rule(typing.get_type_hints(derived.fget)["return"], name)
        rules[name]["description"] = words((derived.__doc__ or "").split("\n\n")[0])
    return record(rules, first_line(kind))


def schema() -> dict[str, Any]:
    """The whole schema."""
    defs = {
        "plugin": record(properties(Provenance), "A plugin that took part."),
        "costs": record(properties(RenyiCosts), first_line(RenyiCosts)),
        "success": record(properties(BayesSuccess), first_line(BayesSuccess)),
    }
    defs["pac"] = promise(PACGuarantee, defs)
    defs["pufferfish"] = promise(PufferfishGuarantee, defs)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:pacsklearn:guarantee:1",
        "title": "A guarantee of pacsklearn, version 1",
        "description": "Information is in nats; shares are probabilities from 0 to 1.",
        "type": "object",
        "required": ["schema", "framework"],
        "if": {"properties": {"framework": {"const": PACGuarantee.name}}},
        "then": {"$ref": "#/$defs/pac"},
        "else": {"$ref": "#/$defs/pufferfish"},
        "$defs": defs,
    }


if __name__ == "__main__":
    for place in PLACES:
        (place / FILE).write_text(json.dumps(schema(), indent=1) + "\n", encoding="utf-8")
