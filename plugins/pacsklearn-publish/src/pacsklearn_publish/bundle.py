"""Signed bundles of released models, as whoever receives one reads it."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from pacsklearn.estimators.archive import canonical_json, unpacked
from pacsklearn.estimators.model_digest import mark_released, model_digest
from pacsklearn.estimators.model_file import from_file
from pacsklearn.exceptions import BundleError
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.ledger.ledger import Ledger
from pacsklearn.kernel.ledger.row import Position
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.upkeep.verification import is_ahead_of
from pacsklearn_publish.signature import check_signature, public_key

SCHEMA: Final = "pacsklearn-bundle/1"


class Names:
    """Members of a bundle."""

    MANIFEST = "manifest.json"
    SIGNATURE = "signature.json"
    MODEL = "model.skops"
    ONNX = "model.onnx"
    GUARANTEE = "guarantee.json"
    INPUTS = "inputs.json"
    SOFTWARE = "software.cdx.json"
    CARD = "README.md"
    PAGE = "card.html"
    RECORD = "card.json"

    REQUIRED = frozenset({MODEL, GUARANTEE, INPUTS, SOFTWARE, CARD, PAGE, RECORD})
    KNOWN = REQUIRED | {ONNX}


@final
@dataclass(frozen=True, eq=False, repr=False)
class Bundle:
    """A released model, what was promised about it, and who says so. Made by :func:`load_bundle`.

    Parameters
    ----------
    guarantee : Guarantee
        Read anew: its derived bounds are computed here, not taken from the file.
    inputs : dict
        What the model reads and what can be asked of it.
    card : str
        Model card, Markdown.
    manifest : dict
        Hashes of all members, digest and class of the model, when it was published.
    signed_by : str
        SHA-256 of the public key whose signature was checked; empty when none was.
    """

    guarantee: Guarantee
    inputs: dict[str, Any]
    card: str
    manifest: dict[str, Any]
    signed_by: str
    _members: dict[str, bytes]

    def __repr__(self) -> str:
        made = f"signed by {self.signed_by[:16]}"
        if not self.signed_by:
            made = "NOT VERIFIED: anybody may have made it, and what it promises"
        return f"<Bundle, {made}: {self.guarantee.title}>"

    @property
    def names(self) -> tuple[str, ...]:
        """Members of the bundle."""
        return tuple(sorted(self._members))

    def read(self, name: str) -> bytes:
        """Return one member: ``"model.onnx"``, ``"software.cdx.json"``, ``"card.html"``.

        Raises
        ------
        KeyError
            When there is none of that name.
        """
        return self._members[name]

    def model(self) -> Any:
        """Return the released estimator, with ``pacsklearn_guarantee_``.

        Returns
        -------
        estimator
            A new one each time.

        Raises
        ------
        BundleError
            When the file asks for a class that no released model needs, or holds another model
            than was published; nothing in the file is run to find out.
        """
        model = from_file(self._members[Names.MODEL])
        # Of what was loaded, not of the file: another version may read the same bytes otherwise.
        if model_digest(model) != self.manifest["model"].get("digest"):
            raise BundleError(
                "The model in the bundle is not the one that was published; the software that "
                "reads it may be too old or too new (software.cdx.json names the versions)."
            )
        return mark_released(model, self.guarantee)

    def check_ledger(self, ledger: Ledger) -> Position:
        """Check that a ledger holds everything it held when the model was released.

        Returns
        -------
        Position
            Where the ledger stood.

        Raises
        ------
        BundleError
            When it does not: an older copy, another ledger, or one that was rewritten.
        """
        dataset, _, head = self.guarantee.ledger_head.rpartition(" ")
        if not dataset:
            raise BundleError("The release was charged to no ledger in a database.")
        position = Position.parse(head)
        if not (
            isinstance(ledger, SharedLedger)
            and ledger.dataset == dataset
            and is_ahead_of(ledger, position)
        ):
            raise BundleError(
                f"The ledger does not hold row {position.sequence} of data set {dataset!r} as it "
                "was at the release: it is another one, an older copy, or was rewritten."
            )
        return position


def load_bundle(path: str | os.PathLike[str], *, key: str | os.PathLike[str] | None) -> Bundle:
    """Read a bundle and check everything about it.

    Parameters
    ----------
    path : str or path-like
        What :func:`publish` wrote.
    key : str, path-like or None
        File with the curator's public key. None checks the hashes only: that finds damage, but
        anybody could have made such a file.

    Returns
    -------
    Bundle
        Whose members are exactly those that were signed. The model is not loaded yet.

    Raises
    ------
    BundleError
        When the signature is missing, by another key or of another content; when a member was
        changed, added or removed, or the file holds any other byte; when the guarantee does not
        follow from its own numbers, or its status says that the model must not be published.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from pacsklearn import PACPrivate, Subsets
    >>> from pacsklearn_publish import load_bundle, make_key, publish
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PACPrivate(RidgeClassifier(), secret=Subsets(16)).fit(X, y)
    >>> folder = Path(tempfile.mkdtemp())
    >>> private, public = make_key(folder / "curator.key")
    >>> path = publish(model, folder / "iris.pac", key=private)
    >>> bundle = load_bundle(path, key=public)
    >>> bundle.guarantee.budget
    0.0625
    >>> bundle.model().predict(X[:2]).shape
    (2,)
    """
    members = unpacked(Path(path).expanduser())
    manifest = _document(members, Names.MANIFEST)
    if manifest.get("schema") != SCHEMA:
        raise BundleError(f"{Path(path).name} is no bundle of the form {SCHEMA}.")
    signed_by = _signer(members, key)
    _check_members(members, manifest)
    guarantee = _guarantee(members)
    # Whoever logs or uploads a bundle reads it here first: what must not leave goes nowhere.
    if not guarantee.status.for_release:
        raise BundleError(f"The bundle holds what must not be published. {guarantee.status}.")
    inputs = _document(members, Names.INPUTS)
    card = members[Names.CARD].decode(errors="replace")
    return Bundle(guarantee, inputs, card, manifest, signed_by, members)


def _signer(members: dict[str, bytes], key: str | os.PathLike[str] | None) -> str:
    if key is None:
        return ""
    public = public_key(key)
    if Names.SIGNATURE not in members:
        raise BundleError("The bundle is not signed; anybody may have made it.")
    document = _document(members, Names.SIGNATURE)
    return check_signature(members[Names.MANIFEST], document, public)


def _check_members(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
    listed = manifest.get("files")
    if not isinstance(listed, dict) or not isinstance(manifest.get("model"), dict):
        raise BundleError("The manifest lists no files.")
    # These two cannot be in it: no file has its own hash, and the manifest is what is signed.
    there = members.keys() - {Names.MANIFEST, Names.SIGNATURE}
    if there != listed.keys():
        other = min(there ^ listed.keys())
        what = "is not in the bundle" if other in listed else "is not in its manifest"
        raise BundleError(f"{other[:80]!r} {what}.")
    if missing := sorted(Names.REQUIRED - listed.keys()):
        raise BundleError(f"The bundle has no {missing[0]}.")
    if unknown := sorted(listed.keys() - Names.KNOWN):
        raise BundleError(f"The bundle holds {unknown[0][:80]!r}, which is no part of one.")
    for name, digest in listed.items():
        if hashlib.sha256(members[name]).hexdigest() != digest:
            raise BundleError(f"{name} is not the file that was published.")


def _guarantee(members: dict[str, bytes]) -> Guarantee:
    document = _document(members, Names.GUARANTEE)
    try:
        guarantee = Guarantee.from_dict(document)
        stated = json.loads(canonical_json(guarantee.to_dict()))
        str(guarantee)  # or whoever reads the bundle would find a word where a number stands
    except Exception:  # noqa: BLE001 - whatever a hostile document raises, it is refused
        raise BundleError("The guarantee cannot be read.") from None
    # Derived figures are computed anew: one that was edited would be signed all the same.
    if stated != document:
        raise BundleError("The guarantee's figures do not follow from its own numbers.")
    return guarantee


def _document(members: dict[str, bytes], name: str) -> dict[str, Any]:
    """Return a JSON object in its canonical form."""
    try:
        document = json.loads(members[name])
        # A name that stands twice is read differently by different programs.
        if isinstance(document, dict) and canonical_json(document) == members[name]:
            return document
    except (KeyError, RecursionError, ValueError):
        pass
    raise BundleError(f"The bundle has no {name} in canonical form.")
