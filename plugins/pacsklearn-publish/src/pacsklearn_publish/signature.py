"""Ed25519 signatures by a key file."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pacsklearn.exceptions import BundleError

ALGORITHM: Final = "Ed25519"
# A signature under a bundle says nothing about any other file that the same key signs.
_PURPOSE: Final = b"pacsklearn bundle 1\n"


def make_key(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write a new private key, readable by its owner only, and the public key beside it.

    Parameters
    ----------
    path : str or path-like
        Of the private key; the public one has ``.pub`` added.

    Returns
    -------
    tuple of Path
        Private and public file, both PEM.

    Raises
    ------
    FileExistsError
        When there is a file: a key that is overwritten cannot sign again.
    """
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Path(path).expanduser()
    public = private.with_name(f"{private.name}.pub")
    key = Ed25519PrivateKey.generate()
    secret = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    shown = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    made = []
    try:
        for place, text, mode in ((private, secret, 0o600), (public, shown, 0o644)):
            descriptor = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
            made.append(place)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text)
    except BaseException:
        # Half a pair would sign, and the other half beside it be another key's.
        for place in made:
            place.unlink()
        raise
    return private, public


def private_key(path: str | os.PathLike[str]) -> Any:
    """Return the key that signs.

    Raises
    ------
    BundleError
        When there is no file, it holds no Ed25519 key without a passphrase, or others can read it.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    place = Path(path).expanduser()
    if not place.exists():
        raise BundleError(f"There is no key {place.name}; `pacsklearn key {place.name}` makes one.")
    with place.open("rb") as file:
        # Of the open file: a path could lead to another one between check and reading.
        mode = os.fstat(file.fileno()).st_mode
        if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise BundleError(
                f"{place.name} can be read by others, who could sign with it; make a new key, and "
                "keep it to yourself (chmod 600)."
            )
        text = file.read()
    key: Any = None
    with suppress(TypeError, ValueError):  # what it holds instead is said below
        key = load_pem_private_key(text, password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise BundleError(
            f"{place.name} is no {ALGORITHM} private key in PEM without a passphrase; "
            "`pacsklearn key curator.key` makes one."
        )
    return key


def public_key(path: str | os.PathLike[str]) -> Any:
    """Return the key that checks; of a private key's file, the public half.

    Raises
    ------
    BundleError
        When the file holds none.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    place = Path(path).expanduser()
    text = place.read_bytes()
    if b"PRIVATE KEY" in text:
        return private_key(place).public_key()
    key: Any = None
    with suppress(ValueError):
        key = load_pem_public_key(text)
    if not isinstance(key, Ed25519PublicKey):
        raise BundleError(f"{place.name} is no {ALGORITHM} public key in PEM.")
    return key


def signature_of(content: bytes, key: Any) -> dict[str, str]:
    """Return the signature of the content, and which key made it."""
    signed = key.sign(_PURPOSE + content)
    return {
        "algorithm": ALGORITHM,
        "key": key_name(key.public_key()),
        "signature": base64.b64encode(signed).decode("ascii"),
    }


def check_signature(content: bytes, document: Any, key: Any) -> str:
    """Check the signature and return the SHA-256 of the key that signed.

    Raises
    ------
    BundleError
        When another key signed, or something else was signed.
    """
    from cryptography.exceptions import InvalidSignature

    name = key_name(key)
    try:
        if document["algorithm"] != ALGORITHM:
            raise BundleError(f"The signature is not by {ALGORITHM}.")
        signed = base64.b64decode(document["signature"], validate=True)
        if document["key"] != name:
            raise BundleError(
                f"Another key signed: the bundle names {str(document['key'])[:16]}, and the key "
                f"given is {name[:16]}."
            )
        key.verify(signed, _PURPOSE + content)
    except InvalidSignature:
        raise BundleError("The signature is not of this content; it was changed.") from None
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, BundleError):
            raise
        raise BundleError("The signature cannot be read.") from None
    return name


def key_name(key: Any) -> str:
    """Return the SHA-256 of a public key, by which bundles and cards name it."""
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()
