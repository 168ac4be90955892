"""Whose promise it is: the signature of a service's statement."""

from __future__ import annotations

import base64
import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pacsklearn_service import PrivateModel
from pacsklearn_service.errors import ServiceError
from pacsklearn_service.statement import checked_guarantee, statement_key
from service_house.house import STEP, House

from pacsklearn import Guarantee


@pytest.fixture(scope="module")
def document(house: House) -> Any:
    return house.call("GET", "/v1/models/risk/statement", user="ann").json()


@pytest.fixture(scope="module")
def key(house: House) -> str:
    return base64.b64encode(house.coordinator.vault.public_key).decode()


def written(folder: Path, key: Any) -> Path:
    """PEM file of the public half."""
    path = folder / "curator.key.pub"
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    path.write_bytes(key.public_key().public_bytes(serialization.Encoding.PEM, form))
    return path


def forged(document: Any, signer: Ed25519PrivateKey, **facts: Any) -> Any:
    """Another statement, signed by a key of the forger and shown with it."""
    made = copy.deepcopy(document)
    made["statement"].update(facts)
    content = json.dumps(made["statement"], sort_keys=True, separators=(",", ":")).encode()
    made["signature"] = base64.b64encode(signer.sign(content)).decode()
    made["public_key"] = base64.b64encode(signer.public_key().public_bytes_raw()).decode()
    return made


def test_the_curators_key_is_accepted_and_another_refused(
    house: House, server: Any, key: str, tmp_path: Path
) -> None:
    good = PrivateModel(server[0], house.key("ann"), public_key=key)
    assert isinstance(good.guarantee_, Guarantee)
    other = written(tmp_path, Ed25519PrivateKey.generate())
    wrong = PrivateModel(server[0], house.key("ann"), public_key=other)
    with pytest.raises(ServiceError, match="public_key"):
        _ = wrong.guarantee_
    assert wrong.predict(np.zeros((1, 4))).shape == (1,)  # answers need no statement


def test_a_forged_statement_shows_its_own_key_in_vain(document: Any, key: str) -> None:
    known, more = statement_key(key), {"model": "risk", "step_budget": STEP}
    assert checked_guarantee(document, key=known, **more).budget == 0.6875
    better = document["statement"]["guarantee"] | {"budget": 0.001}
    lie = forged(document, Ed25519PrivateKey.generate(), guarantee=better)
    with pytest.raises(ServiceError, match="signed"):
        checked_guarantee(lie, key=known, **more)
    for path in (("model", "other"), ("step_budget", 0.5), ("dataset", "another")):
        changed = copy.deepcopy(document)
        changed["statement"].update([path])
        with pytest.raises(ServiceError, match="signed"):
            checked_guarantee(changed, key=known, **more)


def test_a_statement_about_something_else_is_refused_though_signed(document: Any, key: str) -> None:
    known = statement_key(key)
    for more in ({"model": "other", "step_budget": STEP}, {"model": "risk", "step_budget": 0.5}):
        for whose in (known, None):
            with pytest.raises(ServiceError, match="price"):
                checked_guarantee(document, key=whose, **more)


@pytest.mark.parametrize(
    "broken", [None, {}, [], {"statement": {}}, {"statement": {"model": "risk"}, "signature": "?"}]
)
def test_what_is_no_statement(broken: Any, key: str) -> None:
    for whose in (statement_key(key), None):
        with pytest.raises(ServiceError, match="read"):
            checked_guarantee(broken, model="risk", step_budget=STEP, key=whose)


def test_keys_are_read_from_text_and_from_files(key: str, tmp_path: Path) -> None:
    curator = Ed25519PrivateKey.generate()
    path = written(tmp_path, curator)
    raw = curator.public_key().public_bytes_raw()
    assert statement_key(path) == statement_key(str(path)) == raw
    assert base64.b64encode(statement_key(key)).decode() == key
    of_another_kind = written(tmp_path, ec.generate_private_key(ec.SECP256R1()))
    no_key = tmp_path / "words.pub"
    no_key.write_text("no key")
    nowhere = ("nowhere.pub", tmp_path / "nowhere.pub")
    for wrong in (key[:-4], *nowhere, "", b"x" * 32, of_another_kind, no_key):
        with pytest.raises(ValueError, match="base64"):
            statement_key(wrong)
