"""Documents that other tools read: a guarantee as one, schemas, and the check against them."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any, Final

from pacsklearn._optional import optional
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.plots.privacy_statement import guarantee_of

GUARANTEE_SCHEMA: Final = "pacsklearn-guarantee/1"


def guarantee_document(source: Any) -> dict[str, Any]:
    """Return the machine-readable guarantee; :func:`check_document` knows its schema.

    Parameters
    ----------
    source : fitted estimator, release, session, Guarantee

    Returns
    -------
    dict
        Plain data: the fields of the guarantee, the figures derived from them, its status, its
        promise in words and what the adversary may know.
    """
    guarantee = guarantee_of(source)
    document = {
        "schema": GUARANTEE_SCHEMA,
        "promise": guarantee.promise,
        "threat_model": list(guarantee.secret.threats),
        **guarantee.to_dict(),
    }
    # There and back: what JSON does not know fails here, not at the reader's.
    return json.loads(json.dumps(document, allow_nan=False))


def guarantee_from_document(document: dict[str, Any]) -> Guarantee:
    """Return the guarantee that a document states; derived figures are computed anew.

    Raises
    ------
    ValueError
        When the document is of another kind.
    """
    if document.get("schema") != GUARANTEE_SCHEMA:
        raise ValueError(
            f"document must follow {GUARANTEE_SCHEMA!r}, got {document.get('schema')!r}."
        )
    return Guarantee.from_dict(document)


SCHEMAS: Final = {
    "pacsklearn-card/1": "card-1.json",
    "pacsklearn-guarantee/1": "guarantee-1.json",
    "pacsklearn-output-checklist/1": "output-checklist-1.json",
}
"""File of each schema, by the name that a document says it follows."""


def published_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a kind of document.

    Parameters
    ----------
    name : str
        ``"pacsklearn-card/1"``, ``"pacsklearn-guarantee/1"`` or
        ``"pacsklearn-output-checklist/1"``.

    Raises
    ------
    ValueError
        When there is none of that name.
    """
    if name not in SCHEMAS:
        raise ValueError(
            f"schema must be one of {', '.join(map(repr, SCHEMAS))}, got {name!r}; a document "
            "of a later version needs a later pacsklearn."
        )
    file = resources.files("pacsklearn.plots").joinpath("schemas", SCHEMAS[name])
    return json.loads(file.read_text(encoding="utf-8"))


def check_document(document: Any) -> None:
    """Refuse a document that does not follow the schema it names.

    Parameters
    ----------
    document : dict
        What :func:`guarantee_document` or ``OutputChecklist.to_dict`` gives, ``card.json`` of a
        bundle, or what was read from a file.

    Raises
    ------
    ValueError
        Naming where it departs from the schema. Values are not quoted.
    ImportError
        When jsonschema is not installed: the extra ``validate``.
    """
    jsonschema = optional(
        "jsonschema", extra="validate", purpose="Checking a document against its schema"
    )
    name = document.get("schema") if isinstance(document, dict) else None
    validator = jsonschema.Draft202012Validator(published_schema(str(name)))
    # The branch that comes closest says what is wrong; "none of several" would not.
    violation = jsonschema.exceptions.best_match(validator.iter_errors(document))
    if violation is not None:
        where = "/".join(map(str, violation.absolute_path)) or "the document itself"
        raise ValueError(
            f"The document does not follow {name}: {where} breaks the rule {violation.validator!r}."
        )
