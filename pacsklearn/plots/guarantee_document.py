"""A guarantee as a document that other tools can read."""

from __future__ import annotations

import json
from typing import Any, Final

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
