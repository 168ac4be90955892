from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest
from pacsklearn_publish import Bundle, load_bundle
from pacsklearn_publish.bundle import Names
from pacsklearn_publish.signature import make_key, private_key, signature_of

from pacsklearn import Nats, Subsets
from pacsklearn.estimators.archive import canonical_json, packed, unpacked
from pacsklearn.exceptions import BundleError


def test_what_was_released_comes_out(private, bundle, keys, iris):
    found = load_bundle(bundle, key=keys[1])
    assert isinstance(found, Bundle)
    assert found.guarantee == private.guarantee_
    model = found.model()
    assert np.array_equal(model.predict(iris[0]), private.predict(iris[0]))
    assert model.pacsklearn_guarantee_ == private.guarantee_.to_json()
    assert set(found.names) >= Names.REQUIRED | {"manifest.json", "signature.json"}
    assert found.card.startswith("---\nlibrary_name: sklearn")
    assert json.loads(found.read("software.cdx.json"))["bomFormat"] == "CycloneDX"
    assert found.signed_by
    assert "X" not in repr(found)


def test_without_a_key_only_damage_is_found(bundle):
    assert load_bundle(bundle, key=None).signed_by == ""
    assert "NOT VERIFIED" in repr(load_bundle(bundle, key=None))


def forged(bundle, tmp_path, edit, key=None):
    """Bundle with members edited; manifest and signature made anew where a key is given."""
    members = unpacked(bundle)
    edit(members)
    if key is not None:
        manifest = json.loads(members[Names.MANIFEST])
        aside = {Names.MANIFEST, Names.SIGNATURE}
        manifest["files"] = {
            name: hashlib.sha256(text).hexdigest()
            for name, text in members.items()
            if name not in aside
        }
        members[Names.MANIFEST] = canonical_json(manifest)
        members[Names.SIGNATURE] = canonical_json(
            signature_of(members[Names.MANIFEST], private_key(key))
        )
    path = tmp_path / "forged.pac"
    path.write_bytes(packed(members))
    return path


@pytest.mark.parametrize(
    "change",
    [
        {"not_for_release": "seen"},
        {"confidence": 0.999},
        {"spent": 9.0, "budget": 9.0, "certified_membership": None},
    ],
)
def test_a_bundle_of_what_must_not_leave_is_not_read(bundle, keys, tmp_path, change):
    guarantee = replace(load_bundle(bundle, key=keys[1]).guarantee, **change)

    def edit(members):
        members[Names.GUARANTEE] = canonical_json(json.loads(guarantee.to_json()))

    with pytest.raises(BundleError, match="published"):
        load_bundle(forged(bundle, tmp_path, edit, keys[0]), key=keys[1])


def flip(name):
    def edit(members):
        content = bytearray(members[name])
        content[len(content) // 2] ^= 1
        members[name] = bytes(content)

    return edit


@pytest.mark.parametrize("name", sorted(Names.REQUIRED | {Names.MANIFEST, Names.SIGNATURE}))
def test_a_flipped_bit_in_any_member_is_found(bundle, keys, tmp_path, name):
    with pytest.raises(BundleError):
        load_bundle(forged(bundle, tmp_path, flip(name)), key=keys[1])


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda m: m.update({"rows.csv": b"1,2"}), "manifest"),
        (lambda m: m.pop(Names.CARD), "bundle"),
        (lambda m: m.pop(Names.SIGNATURE), "signed"),
        (lambda m: m.pop(Names.MANIFEST), "manifest"),
    ],
)
def test_members_are_those_that_were_signed(bundle, keys, tmp_path, edit, words):
    with pytest.raises(BundleError, match=words):
        load_bundle(forged(bundle, tmp_path, edit), key=keys[1])


@pytest.mark.parametrize("key", [True, False])
def test_members_that_no_bundle_has_are_refused_though_they_are_listed(bundle, keys, tmp_path, key):
    path = forged(bundle, tmp_path, lambda members: members.update({"rows.csv": b"1,2"}), keys[0])
    with pytest.raises(BundleError, match=r"'rows.csv', which is no part"):
        load_bundle(path, key=keys[1] if key else None)


@pytest.mark.parametrize(
    ("name", "value"), [("budget", 10**400), ("secret", {"known_errors": "x"}), ("secret", [])]
)
def test_numbers_beyond_doubles_and_other_kinds_are_no_guarantee(
    bundle, keys, tmp_path, name, value
):
    """They ended in OverflowError and IndexError."""

    def edit(members):
        document = json.loads(members[Names.GUARANTEE])
        if isinstance(value, dict):
            document[name].update(value)
        else:
            document[name] = value
        members[Names.GUARANTEE] = canonical_json(document)

    with pytest.raises(BundleError, match="guarantee"):
        load_bundle(forged(bundle, tmp_path, edit, keys[0]), key=keys[1])


def test_somebody_else_signed(bundle, keys, tmp_path):
    other = make_key(tmp_path / "other")
    path = forged(bundle, tmp_path, lambda members: None, other[0])
    assert load_bundle(path, key=other[1]).signed_by
    with pytest.raises(BundleError, match="Another"):
        load_bundle(path, key=keys[1])


def better(members):
    document = json.loads(members[Names.GUARANTEE])
    document["posterior_membership"] = 0.5
    members[Names.GUARANTEE] = canonical_json(document)


def spaced(members):
    members[Names.GUARANTEE] += b"\n"


def other_model(members):
    from sklearn.linear_model import RidgeClassifier

    from pacsklearn.estimators.model_file import to_file

    members[Names.MODEL] = to_file(RidgeClassifier().fit(np.eye(3), [0, 1, 2]))


def without_a_digest(members):
    manifest = json.loads(members[Names.MANIFEST])
    del manifest["model"]["digest"]
    members[Names.MANIFEST] = canonical_json(manifest)


def of_no_words(members):
    document = json.loads(members[Names.GUARANTEE])
    members[Names.GUARANTEE] = canonical_json(document | {"bound": None})


EDITS = [better, spaced, other_model, without_a_digest, of_no_words, flip(Names.MODEL)]


@pytest.mark.parametrize("edit", EDITS)
def test_a_signature_does_not_make_a_bundle_consistent(bundle, keys, tmp_path, edit):
    path = forged(bundle, tmp_path, edit, keys[0])
    with pytest.raises(BundleError):
        load_bundle(path, key=keys[1]).model()


def test_the_ledger_must_hold_what_it_held(iris, keys, tmp_path):
    from pacsklearn_publish import publish
    from sklearn.linear_model import RidgeClassifier

    from pacsklearn import PACPrivate
    from pacsklearn.kernel.ledger.shared_ledger import SharedLedger

    address = f"sqlite:///{tmp_path / 'clinic.db'}"
    ledger = SharedLedger.found(address, 3.0)
    model = PACPrivate(RidgeClassifier(), budget=Nats(1.0), secret=Subsets(16), ledger=address).fit(
        *iris
    )
    path = publish(model, tmp_path / "m.pac", key=keys[0], onnx="none")
    found = load_bundle(path, key=keys[1])
    assert found.check_ledger(ledger).sequence == 1
    PACPrivate(RidgeClassifier(), budget=Nats(1.0), secret=Subsets(16), ledger=address).fit(*iris)
    assert found.check_ledger(ledger).sequence == 1  # later rows change nothing
    other = SharedLedger.found(f"sqlite:///{tmp_path / 'other.db'}", 3.0)
    with pytest.raises(BundleError, match="hold"):
        found.check_ledger(other)


def test_a_release_of_no_ledger_has_no_head(bundle, keys):
    from pacsklearn.kernel.ledger.ledger import MemoryLedger

    with pytest.raises(BundleError, match="charged"):
        load_bundle(bundle, key=keys[1]).check_ledger(MemoryLedger(1.0))
