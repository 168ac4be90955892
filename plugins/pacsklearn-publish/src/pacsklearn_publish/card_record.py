"""What a model card states, as one JSON document; Markdown and HTML are views of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pacsklearn._public_path import public_path
from pacsklearn.kernel.guarantee.guarantee import Guarantee

SCHEMA: Final = "pacsklearn-card/1"

ABOUT: Final = {
    "title": "name of the model",
    "description": "what it predicts, in a sentence or two",
    "data": "whose data, from when, how many",
    "intended_use": "what it may be used for",
    "limits": "what it must not be used for, and where it is known to fail",
    "utility": "how good it is, as far as you choose to state it",
    "license": "identifier of a licence, such as cc-by-4.0",
    "authors": "who answers for it",
    "contact": "where to ask",
}
"""What a curator may say about a model. Each is public once it is published."""

# Of all that took part, listed in software.cdx.json, what a reader asks for first.
_FIRST_SOFTWARE: Final = {"python", "pacsklearn", "scikit-learn", "numpy", "opendp"}


def checked_about(about: Mapping[str, Any] | None) -> dict[str, str]:
    """Return what a curator says about a model.

    Raises
    ------
    ValueError
        When a name is not one of :data:`ABOUT`, or its text is none.
    """
    description = dict(about or {})
    for name, text in description.items():
        if name not in ABOUT:
            raise ValueError(f"about may say {', '.join(ABOUT)}; got {name!r}.")
        if not isinstance(text, str):
            raise ValueError(f"about[{name!r}] must be a text, got {type(text).__name__}.")
    # It goes into the metadata of the card, where a text could add entries of its own.
    if "license" in description and not re.fullmatch(
        r"[A-Za-z0-9.+-]{1,64}", description["license"]
    ):
        raise ValueError("about['license'] must be an identifier, such as cc-by-4.0.")
    return description


def card_record(
    model: Any,
    guarantee: Guarantee,
    *,
    inputs: Mapping[str, Any],
    about: Mapping[str, str],
    published: str,
    signer: str,
    software: Mapping[str, Any],
    files: Iterable[str],
) -> dict[str, Any]:
    """Return everything a model card states. It follows the schema ``pacsklearn-card/1``.

    Parameters
    ----------
    model : estimator
        As it was released.
    guarantee : Guarantee
        Its promise.
    inputs : mapping
        Columns and methods of the model.
    about : mapping of str to str
        What the curator says, checked.
    published : str
        Day, as ISO 8601 writes it.
    signer : str
        SHA-256 of the public key; empty when nobody signs.
    software : mapping
        Bill of materials, CycloneDX.
    files : iterable of str
        Files that hold the model.

    Returns
    -------
    dict
        A bound is ``figures[i]["value"]`` in its unit: ``"nats"``, or ``"share"`` for a
        probability. ``meaning`` says what it is a bound on, in words.
    """
    wanted = _FIRST_SOFTWARE | {entry.distribution for entry in guarantee.provenance}
    looked_up = [fact for fact in guarantee.public if fact.startswith("looked up")]
    return {
        "schema": SCHEMA,
        "title": about.get("title") or type(model).__name__,
        "published": published,
        "signer": signer,
        "about": {name: about[name] for name in ABOUT if about.get(name)},
        "framework": guarantee.name,
        "status": str(guarantee.status),
        "promise": guarantee.promise,
        "figures": [figure.to_dict() for figure in guarantee.figures],
        "facts": [{"name": name, "text": text} for name, text in guarantee.details],
        "noise": guarantee.noise,
        "released": list(guarantee.released),
        "public": [fact for fact in guarantee.public if fact not in looked_up],
        "looked_up": looked_up,
        "not_covered": list(guarantee.not_covered),
        "model": {
            "class": ".".join(public_path(type(model))),
            "parameters": " ".join(repr(model).split()),
            "columns": [str(field["name"]) for field in inputs["columns"]["fields"]],
            "methods": list(inputs["methods"]),
            "files": list(files),
        },
        "software": [
            {"name": one["name"], "version": one["version"]}
            for one in software["components"]
            if one["name"] in wanted
        ],
    }
