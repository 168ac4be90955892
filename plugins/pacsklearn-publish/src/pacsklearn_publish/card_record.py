"""What a model card states, as one JSON document; Markdown and HTML are views of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pacsklearn.kernel.bounds.dp_equivalent import dp_epsilon
from pacsklearn.kernel.budget.criterion import MEMBERSHIP_AIM
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.kernel.plugins.kinds import public_path
from pacsklearn.kernel.secret.secret_rows import RowsSecret
from pacsklearn.srpp.release.pufferfish_guarantee import PufferfishGuarantee

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
_VIEWS: Final = {
    "average": "on average over the slices",
    "joint": "for one slice drawn at random",
    "full": "for the whole release",
}


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
    if isinstance(guarantee, PufferfishGuarantee):
        figures = _pufferfish(guarantee)
    else:
        assert isinstance(guarantee, PACGuarantee), guarantee.name
        figures = _pac(guarantee)
    return {
        "schema": SCHEMA,
        "title": about.get("title") or type(model).__name__,
        "published": published,
        "signer": signer,
        "about": {name: about[name] for name in ABOUT if about.get(name)},
        "framework": guarantee.name,
        "status": str(guarantee.status),
        "promise": guarantee.promise,
        "figures": figures,
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


def _figure(
    name: str,
    value: float | str | None,
    unit: str,
    meaning: str,
    *,
    blind: float | None = None,
) -> dict[str, Any]:
    figure = {"name": name, "value": value, "unit": unit, "meaning": meaning}
    return figure if blind is None else {**figure, "blind": blind}


def _pac(guarantee: PACGuarantee) -> list[dict[str, Any]]:
    secret = guarantee.secret
    of_rows = isinstance(secret, RowsSecret)
    question = (
        f"Telling whether one {secret.unit} was used" if of_rows else "A question at even odds"
    )
    capped = guarantee.capped == MEMBERSHIP_AIM
    why = "this is the cap" if capped else "it follows from the nats, for any release of so many"
    certified = "Not computed for releases of this kind; the implied bound stands alone."
    if guarantee.certified_membership is not None:
        certified = (
            "The same question, computed for this release's own noise, at the unit for which the "
            f"best attack does best, at confidence {guarantee.certified_confidence:.8g}. It bounds "
            "this question alone. The smaller of the two bounds holds."
        )
    epsilon = dp_epsilon(guarantee.posterior_membership)
    finite = epsilon != float("inf")
    figures = [
        _figure(
            "information",
            guarantee.information,
            "nats",
            f"Most that is told about which {secret.noun} was used; it bounds every other question "
            "about it.",
        ),
        _figure(
            "success, implied",
            guarantee.posterior_membership,
            "share",
            f"{question}: no adversary is right more often, on average over the secret draw and "
            f"the noise; {why}.",
            blind=secret.prior_membership,
        ),
        _figure(
            "success, certified",
            guarantee.certified_membership,
            "share",
            certified,
        ),
        _figure(
            f"naming the {secret.noun}",
            guarantee.posterior_identification,
            "share",
            f"No adversary names the {secret.noun} that was used more often.",
            blind=secret.prior_identification,
        ),
        _figure(
            "epsilon of equal success",
            epsilon if finite else None,
            "epsilon",
            "A differentially private mechanism with this epsilon has the same implied bound. A "
            "comparison: this release is not differentially private."
            if finite
            else "No differentially private mechanism has a bound that weak.",
        ),
        _figure("unit of privacy", secret.unit, "", "What is in or out together."),
        _figure(
            "candidates",
            secret.n_candidates,
            "count",
            f"One {secret.noun} was drawn in secret"
            + (" from these." if secret.n_candidates else "; they are too many to list."),
        ),
    ]
    if isinstance(secret, RowsSecret):
        prior = secret.prior_membership
        rate = getattr(secret, "rate", prior)
        known = abs(prior - 0.5) < 1e-12 or hasattr(secret, "rate")
        shown = rate if known else f"{1 - prior:.3g} or {prior:.3g}"
        figures += [
            _figure("rate", shown, "", f"Share of the candidates that a {secret.unit} is in."),
            _figure(
                "records", secret.n_rows, "count", "Rows of the table; the adversary knows them."
            ),
        ]
    return [*figures, _confidence(guarantee.confidence)]


def _pufferfish(guarantee: PufferfishGuarantee) -> list[dict[str, Any]]:
    secret, costs, success = guarantee.secret, guarantee.costs, guarantee.success
    computed = "Not computed for a run of many steps."
    pair = (
        computed
        if success is None
        else "Telling the worst pair of secrets apart, each as likely, from the whole release, "
        f"over the listed data sets, at confidence {success.confidence:.8g}."
    )
    return [
        _figure(
            "Renyi divergence",
            guarantee.spent,
            "nats",
            f"Of order {costs.order:g}, {_VIEWS[guarantee.aggregation]}, between what any two of "
            "the secrets would release.",
        ),
        _figure("success", None if success is None else success.pair, "share", pair, blind=0.5),
        _figure(
            "naming the secret",
            None if success is None else success.secret,
            "share",
            computed if success is None else "No adversary names the true secret more often.",
            blind=None if success is None else success.secret_blind,
        ),
        _figure(
            "epsilon of the whole release",
            costs.full_epsilon,
            "epsilon",
            f"At delta {costs.delta:g}, between the same secrets.",
        ),
        _figure("unit of privacy", secret.protects, "", "What is secret."),
        _figure(
            "candidates", secret.n_secrets, "count", f"Secrets; {secret.n_pairs} pairs kept apart."
        ),
        _confidence(guarantee.confidence),
    ]


def _confidence(confidence: float) -> dict[str, Any]:
    certain = "The bounds are proved." if confidence == 1 else "Probability that the bounds hold."
    return _figure("confidence", confidence, "", certain)
