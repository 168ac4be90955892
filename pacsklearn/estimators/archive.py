"""A zip of which every byte is accounted for: the same members always give the same bytes."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pacsklearn.exceptions import BundleError

_LARGEST: Final = 2**31
_EARLIEST: Final = (1980, 1, 1, 0, 0, 0)


def canonical_json(document: Any) -> bytes:
    """Return the JSON of which there is one form: sorted names, no spaces, UTF-8, finite numbers.

    Raises
    ------
    ValueError
        When a number is not finite.
    """
    return json.dumps(
        document, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    ).encode()


def packed(members: Mapping[str, bytes]) -> bytes:
    """Return a zip of the members by name, without times, owners or compression."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            entry = zipfile.ZipInfo(name, _EARLIEST)
            # As on Unix everywhere: the same members are the same bytes on every machine.
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, members[name])
    return stream.getvalue()


def unpacked(path: Path) -> dict[str, bytes]:
    """Return the members of a file that :func:`packed` made.

    Raises
    ------
    BundleError
        When the file is none, or holds a byte more: between the members, after them, in a comment.
    """
    if path.stat().st_size > _LARGEST:
        raise BundleError(f"{path.name} is larger than {_LARGEST:,} bytes; it is no bundle.")
    content = path.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            # Stored members are never larger than the file: nothing can be inflated here.
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
                raise BundleError(f"{path.name} is compressed, and bundles are not.")
            if len({entry.filename for entry in entries}) < len(entries):
                raise BundleError(f"{path.name} holds two members of one name.")
            members = {entry.filename: archive.read(entry) for entry in entries}
    except BundleError:
        raise
    # ValueError: names that are no text, and places before the file's beginning.
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError):
        raise BundleError(f"{path.name} is no bundle, or it is damaged.") from None
    if packed(members) != content:
        raise BundleError(
            f"{path.name} holds bytes that belong to none of its members; it was changed after it "
            "was published."
        )
    return members
