from __future__ import annotations

import io
import zipfile

import pytest

from pacsklearn.estimators.archive import canonical_json, packed, unpacked
from pacsklearn.exceptions import BundleError

MEMBERS = {"b.txt": b"two", "a.txt": b"one"}


def written(tmp_path, content):
    path = tmp_path / "m.pac"
    path.write_bytes(content)
    return path


def test_members_come_back_and_bytes_are_the_same_in_any_order(tmp_path):
    content = packed(MEMBERS)
    assert unpacked(written(tmp_path, content)) == MEMBERS
    assert packed(dict(sorted(MEMBERS.items()))) == content


def zipped(**options):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", **options) as archive:
        for name in sorted(MEMBERS):
            archive.writestr(zipfile.ZipInfo(name), MEMBERS[name])
    return stream.getvalue()


def doubled():
    stream = io.BytesIO(packed(MEMBERS))
    with zipfile.ZipFile(stream, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("a.txt", b"other")
    return stream.getvalue()


def commented():
    stream = io.BytesIO(packed(MEMBERS))
    with zipfile.ZipFile(stream, "a") as archive:
        archive.comment = b"a row of the table"
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        lambda: packed(MEMBERS) + b"x",
        lambda: b"x" + packed(MEMBERS),
        lambda: packed(MEMBERS)[:-1],
        lambda: b"",
        lambda: b"PK\x03\x04",
        commented,
        doubled,
        lambda: zipped(compression=zipfile.ZIP_DEFLATED),
        lambda: packed(MEMBERS).replace(b"one", b"two", 1),
    ],
)
def test_any_other_byte_is_refused(tmp_path, content):
    with pytest.raises(BundleError):
        unpacked(written(tmp_path, content()))


def test_json_has_one_form():
    assert canonical_json({"b": 1, "a": ["é", 0.1]}) == '{"a":["é",0.1],"b":1}'.encode()
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(float("nan"))


def test_no_bit_of_a_bundle_is_another_one(tmp_path):
    content = packed({**MEMBERS, "ü.txt": b"three"})
    path = tmp_path / "m.pac"
    for bit in range(8 * len(content)):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        with pytest.raises(BundleError):
            unpacked(path)
