from __future__ import annotations

import stat

import pytest
from pacsklearn_publish.signature import (
    check_signature,
    make_key,
    private_key,
    public_key,
    signature_of,
)

from pacsklearn.exceptions import BundleError


def test_a_key_is_its_owners_and_is_never_overwritten(tmp_path):
    private, public = make_key(tmp_path / "k")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert b"PRIVATE" not in public.read_bytes()
    with pytest.raises(FileExistsError):
        make_key(tmp_path / "k")
    private.chmod(0o640)
    with pytest.raises(BundleError, match="read"):
        private_key(private)


def test_half_a_pair_is_not_left(tmp_path):
    """A new private key stood beside another key's public half, and signed what nobody verifies."""
    make_key(tmp_path / "k")[0].unlink()
    with pytest.raises(FileExistsError):
        make_key(tmp_path / "k")
    assert [place.name for place in tmp_path.iterdir()] == ["k.pub"]


def test_a_signature_is_of_one_content_by_one_key(tmp_path, keys):
    signed = signature_of(b"content", private_key(keys[0]))
    public = public_key(keys[1])
    assert check_signature(b"content", signed, public) == signed["key"]
    assert check_signature(b"content", signed, public_key(keys[0])) == signed["key"]
    other = make_key(tmp_path / "other")[1]
    for content, document, key, words in [
        (b"Content", signed, public, "was changed"),
        (b"content", signed, public_key(other), "Another key"),
        (b"content", {**signed, "signature": "AAAA"}, public, "was changed"),
        (b"content", {**signed, "signature": 7}, public, "cannot be read"),
        (b"content", {**signed, "signature": "é"}, public, "cannot be read"),
        (b"content", {**signed, "algorithm": "none"}, public, "not by Ed25519"),
        (b"content", {}, public, "cannot be read"),
    ]:
        with pytest.raises(BundleError, match=words):
            check_signature(content, document, key)


def test_a_bare_signature_of_the_content_does_not_count(keys):
    import base64

    key = private_key(keys[0])
    bare = signature_of(b"content", key) | {
        "signature": base64.b64encode(key.sign(b"content")).decode()
    }
    with pytest.raises(BundleError, match="changed"):
        check_signature(b"content", bare, public_key(keys[1]))


def test_files_that_are_no_keys(tmp_path, keys):
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

    other = generate_private_key(SECP256R1())
    place = tmp_path / "ec"
    place.write_bytes(
        other.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    )
    for path in (place, tmp_path / "text"):
        if path.name == "text":
            path.write_text("no key")
        with pytest.raises(BundleError, match="Ed25519"):
            public_key(path)
    place.chmod(0o600)
    with pytest.raises(BundleError, match="Ed25519"):
        private_key(place)


def test_a_key_that_is_not_there_says_how_to_make_it(tmp_path):
    with pytest.raises(BundleError, match=r"`pacsklearn key mine\.key` makes one"):
        private_key(tmp_path / "mine.key")
