"""A released model as one signed file, with the bill of materials it was made with."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from pacsklearn._public_path import public_path
from pacsklearn.estimators.archive import canonical_json, packed
from pacsklearn.estimators.model_digest import DIGEST, GUARANTEE, model_digest
from pacsklearn.estimators.model_file import to_file
from pacsklearn.exceptions import BundleError
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.ledger.replacement_file import replacement_file
from pacsklearn_publish.bundle import SCHEMA, Names, load_bundle
from pacsklearn_publish.card import model_card
from pacsklearn_publish.card_record import card_record, checked_about
from pacsklearn_publish.inputs import model_inputs
from pacsklearn_publish.onnx_file import OnnxFile, onnx_file
from pacsklearn_publish.probe_rows import is_released
from pacsklearn_publish.signature import key_name, private_key, signature_of

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def bill_of_materials(title: str, provenance: Iterable[Provenance]) -> dict[str, Any]:
    """Return CycloneDX 1.5 document: the model, Python, pacsklearn and all it needs, and plugins.

    Parameters
    ----------
    title : str
        Of the model.
    provenance : iterable of Provenance
        Plugins that took part in the release.

    Returns
    -------
    dict
        Versions only: no paths, no names of machines or users.
    """
    names = {"pacsklearn", "skops", *(entry.distribution for entry in provenance)}
    needed = _needed(names)
    components = [
        {"type": "library", "bom-ref": place, "name": name, "version": version, "purl": place}
        for name, version in sorted(needed.items())
        for place in [f"pkg:pypi/{name}@{version}"]
    ]
    python = {"name": "python", "version": platform.python_version()}
    components.append({"type": "platform", "bom-ref": "python", **python})
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {"type": "machine-learning-model", "bom-ref": "model", "name": title}
        },
        "components": components,
        "dependencies": [
            {"ref": "model", "dependsOn": [component["bom-ref"] for component in components]}
        ],
    }


def _needed(names: Iterable[str]) -> dict[str, str]:
    """Return the version of each distribution that is installed here, and of what they require."""
    versions: dict[str, str] = {}
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # for another platform or an older Python
            continue
        versions[name] = distribution.version
        # Without extras: what this machine has besides is nobody's business.
        always = [one for one in distribution.requires or () if "extra ==" not in one]
        waiting += [match.group() for one in always if (match := _NAME.match(one))]
    return versions


_ONNX: Final = ("auto", "required", "none")


def publish(
    source: Any,
    path: str | os.PathLike[str],
    *,
    key: str | os.PathLike[str] | None = None,
    about: Mapping[str, str] | None = None,
    onnx: str = "auto",
) -> Path:
    """Write a released model, its guarantee and its card into one signed file.

    The file holds the model as skops writes it (no pickle), in ONNX too where every operator
    exists and the outputs agree, ``guarantee.json``, a model card in Markdown, HTML and JSON, what
    the model reads, the versions of all software, where the ledger stood, and the hash of each. It
    holds nothing else: neither the noise nor where it was added, which would tell the candidates'
    mean model.

    Parameters
    ----------
    source : PACPrivate, SRPPPrivate, SRPPSGD model, Release, DistilledModel or estimator
        Fitted; or a released estimator by itself, from memory or from ``joblib.load``.
    path : str or path-like
        ``model.pac``. A file that is there is replaced.
    key : str or path-like, optional
        File with an Ed25519 private key (``pacsklearn key curator.key`` makes one). The signature
        says that this is the model that was released; without it anybody could have made the file.
    about : mapping of str to str, optional
        What you say about the model: ``title``, ``description``, ``data``, ``intended_use``,
        ``limits``, ``utility``, ``license``, ``authors``, ``contact``. All of it is public; a
        figure of utility that was measured on private rows is one more thing that they tell.
    onnx : {"auto", "required", "none"}, default="auto"
        Whether there is an ONNX file: where it can be made and agrees, always (or an error), never.

    Returns
    -------
    Path

    Raises
    ------
    BundleError
        When the model is not as it was released (it was fitted again, or changed), when the status
        of its guarantee is not *proved*, at a confidence or without (its noise was reproducible,
        nothing is hidden, a bound is estimated), or when it cannot be written without code.
        Nothing is written then.
    """
    content = bundle_content(source, key=key, about=about, onnx=onnx)
    target = Path(path).expanduser()
    with replacement_file(target) as file:
        file.write(content)
    return target


def bundle_content(
    source: Any,
    *,
    key: str | os.PathLike[str] | None = None,
    about: Mapping[str, str] | None = None,
    onnx: str = "auto",
) -> bytes:
    """Return what :func:`publish` writes, with the same parameters and errors."""
    if onnx not in _ONNX:
        raise ValueError(f"onnx must be {', '.join(map(repr, _ONNX))}, got {onnx!r}.")
    description = checked_about(about)
    signer = None if key is None else private_key(key)
    model, guarantee = _released(source)
    inputs = model_inputs(model)
    inputs["methods"] = [name for name in inputs["methods"] if is_released(model, name)]
    exported = OnnxFile(None, "not asked for") if onnx == "none" else onnx_file(model)
    if onnx == "required" and exported.content is None:
        raise BundleError(f"There is no ONNX file of this model: {exported.note}.")
    # The day: the second would say when the curator worked.
    published = datetime.now(UTC).date().isoformat()
    title = description.get("title") or type(model).__name__
    software = bill_of_materials(title, guarantee.provenance)
    card = card_record(
        model,
        guarantee,
        inputs=inputs,
        about=description,
        published=published,
        signer="" if signer is None else key_name(signer.public_key()),
        software=software,
        files=[Names.MODEL] if exported.content is None else [Names.MODEL, Names.ONNX],
    )
    markdown, page = model_card(card)
    members = {
        Names.MODEL: to_file(model),
        Names.GUARANTEE: canonical_json(guarantee.to_dict()),
        Names.INPUTS: canonical_json(inputs),
        Names.SOFTWARE: canonical_json(software),
        Names.RECORD: canonical_json(card),
        Names.CARD: markdown.encode(),
        Names.PAGE: page.encode(),
    }
    if exported.content is not None:
        members[Names.ONNX] = exported.content
    manifest = canonical_json(
        {
            "schema": SCHEMA,
            "published": published,
            "model": {
                "class": ".".join(public_path(type(model))),
                "digest": model_digest(model),
                "onnx": exported.note,
            },
            "files": {n: hashlib.sha256(text).hexdigest() for n, text in members.items()},
        }
    )
    members[Names.MANIFEST] = manifest
    if signer is not None:
        members[Names.SIGNATURE] = canonical_json(signature_of(manifest, signer))
    return packed(members)


def bundle_writer(
    key: str | os.PathLike[str], about: Mapping[str, str] | None = None
) -> Callable[[Any], bytes]:
    """Return the function that bundles a released model, for ``pacsklearn release --key``.

    Raises
    ------
    BundleError, ValueError
        When the key cannot sign, or the card cannot be written: before anything is charged.
    """
    private_key(key)
    description = checked_about(about)

    def written(model: Any) -> bytes:
        content = bundle_content(model, key=key, about=description)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bundle.pac"
            path.write_bytes(content)
            load_bundle(path, key=key).model()
        return content

    return written


def _released(source: Any) -> tuple[Any, Guarantee]:
    """Give the estimator of a release that may be given away, as it was released, and its promise.

    Raises
    ------
    BundleError
        Saying why there is none.
    """
    model = source
    # An estimator's parameter "estimator" may be an earlier release, which it was fitted from.
    fitted = hasattr(source, "get_params")
    for name in ("released_estimator_",) if fitted else ("value", "estimator"):
        if not hasattr(source, GUARANTEE) and hasattr(getattr(source, name, None), GUARANTEE):
            model = getattr(source, name)
    if not hasattr(model, GUARANTEE):
        raise BundleError(
            f"{type(source).__name__} holds no released model. Fit PACPrivate or SRPPPrivate with "
            "release=Parameters(); a model that answers is published by distill."
        )
    # Before anything is written: the promise is about the numbers that were released.
    if model_digest(model) != getattr(model, DIGEST, None):
        raise BundleError(
            f"This {type(model).__name__} is not as it was released: it was fitted again, or a "
            "parameter or a number was changed. The guarantee is not about it."
        )
    guarantee = Guarantee.from_dict(json.loads(getattr(model, GUARANTEE)))
    if not guarantee.status.for_release:
        raise BundleError(f"This model must not be published. {guarantee.status}.")
    return model, guarantee
