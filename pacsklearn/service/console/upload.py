"""Fields of a form that was sent, read in memory: rows go to no temporary file."""

from __future__ import annotations

from email.parser import BytesParser
from email.policy import HTTP
from urllib.parse import parse_qs

from pacsklearn.service.problem import Problem

__all__ = ["form_fields"]


def form_fields(body: bytes, kind: str) -> dict[str, bytes]:
    """Fields by name.

    Parameters
    ----------
    body : bytes
    kind : str
        ``Content-Type``, with the boundary of the parts.

    Raises
    ------
    Problem
    """
    if kind.partition(";")[0].strip().lower() == "application/x-www-form-urlencoded":
        try:
            form = parse_qs(body.decode("ascii"), max_num_fields=20, errors="strict")
        except ValueError:
            raise Problem("bad-request", "The form cannot be read.") from None
        return {name: values[0].encode() for name, values in form.items()}
    if not kind.lower().startswith("multipart/form-data") or "\n" in kind or "\r" in kind:
        raise Problem("unsupported-media-type", "Send the form of this page.")
    head = f"Content-Type: {kind}\r\n\r\n".encode("latin-1")
    message = BytesParser(policy=HTTP).parsebytes(head + body)
    fields: dict[str, bytes] = {}
    for part in message.iter_parts() if message.is_multipart() else ():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(content, bytes):
            fields[name] = content
    if not fields:
        raise Problem("bad-request", "The form cannot be read.")
    return fields
