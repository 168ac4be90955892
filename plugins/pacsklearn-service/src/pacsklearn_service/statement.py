"""What a service promises about a model, with its signature checked."""

from __future__ import annotations

import base64
import binascii
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn_service.errors import ServiceError

_KEY: Final = 32


def statement_key(given: Any) -> bytes:
    """Return the public key of a service.

    Parameters
    ----------
    given : str or path-like
        Base64 of 32 bytes, as the service prints it when it starts, or the path of an Ed25519
        public key in PEM.

    Returns
    -------
    bytes of length 32

    Raises
    ------
    ValueError
        When it is neither.
    """
    if isinstance(given, str):
        try:
            key = base64.b64decode(given, validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if len(key) == _KEY:
            return key
    if isinstance(given, (str, os.PathLike)) and Path(given).expanduser().is_file():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        public: Any = None
        with suppress(ValueError):  # what it holds instead is said below
            public = load_pem_public_key(Path(given).expanduser().read_bytes())
        if isinstance(public, Ed25519PublicKey):
            return public.public_bytes_raw()
    raise ValueError(
        "public_key must be the service's Ed25519 key: 32 bytes in base64, as `pacsklearn service "
        "run` prints it, or the path of a PEM file; ask the curator for it"
    )


def checked_guarantee(
    document: Any, *, model: str, step_budget: float, key: bytes | None
) -> PACGuarantee:
    """Return the guarantee in a signed statement.

    Parameters
    ----------
    document : mapping
        As the service replies: ``statement``, ``signature``.
    model : str
        Which model must be meant.
    step_budget : float
        Nats that the service charges for a contested row.
    key : bytes of length 32, optional
        Key that must have signed, known from elsewhere. The key in the document proves nothing:
        whoever forges the statement chooses it. Without one, only the connection vouches for it.

    Raises
    ------
    ServiceError
        Of kind ``"statement"`` when another key signed, or when it is about something else.
    """
    try:
        statement = document["statement"]
        if key is not None:
            _verify(statement, str(document["signature"]), key)
        about, step = statement["model"], float(statement["step_budget"])
        guarantee = PACGuarantee.from_json(json.dumps(statement["guarantee"]))
    except (KeyError, TypeError, ValueError):
        raise _refused("cannot be read") from None
    if about != model or step != step_budget:
        raise _refused("is about another model, or another price, than the one that answers")
    return guarantee


def signed_text(statement: Any) -> bytes:
    """Return the one text of a statement: whoever signs and whoever verifies write the same."""
    return json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()


def _verify(statement: Any, signature: str, key: bytes) -> None:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise ImportError(
            "Checking a statement needs cryptography: pip install cryptography"
        ) from None
    signed = base64.b64decode(signature, validate=True)
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signed, signed_text(statement))
    except InvalidSignature:
        raise _refused(
            "was not signed by the key in public_key: ask the curator which key the service has, "
            "and do not rely on it meanwhile"
        ) from None


def _refused(what: str) -> ServiceError:
    return ServiceError("statement", 0, f"The service's statement about the model {what}")
