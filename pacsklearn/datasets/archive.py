"""Read one text file out of a zip archive, looking inside nested archives."""

from __future__ import annotations

import io
import zipfile

# The largest original has 6 MB of text: anything far above it is not that data set.
MAX_MEMBER_BYTES = 64 * 1024 * 1024


def read_member(archive: bytes, suffix: str) -> str:
    """Return the text of the first member whose file name ends with `suffix`.

    Parameters
    ----------
    archive : bytes
        A zip archive.
    suffix : str
        End of the wanted file name, compared without regard to case. A suffix that
        starts with ``/`` is compared with the whole file name.

    Returns
    -------
    text : str
        The decoded member.

    Raises
    ------
    ValueError
        If `archive` is not a zip archive, has no such member or holds a member far
        larger than any of the data sets.
    """
    content = _search(archive, suffix.lower(), depth=2)
    if content is None:
        raise ValueError(f"the archive has no file whose name ends with {suffix.lstrip('/')!r}.")
    return content.decode("utf-8-sig")


def _search(archive: bytes, suffix: str, depth: int) -> bytes | None:
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            members = [member for member in opened.infolist() if not member.is_dir()]
            for member in members:
                if f"/{member.filename}".lower().endswith(suffix):
                    return _read(opened, member)
            if depth > 1:
                for member in members:
                    if member.filename.lower().endswith(".zip"):
                        content = _search(_read(opened, member), suffix, depth - 1)
                        if content is not None:
                            return content
    except zipfile.BadZipFile as error:
        raise ValueError(f"what was received is not a readable zip archive ({error}).") from error
    return None


def _read(opened: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    if member.file_size > MAX_MEMBER_BYTES:
        raise ValueError(
            f"{member.filename!r} in the archive unpacks to {member.file_size} bytes; "
            f"at most {MAX_MEMBER_BYTES} were expected."
        )
    return opened.read(member)
