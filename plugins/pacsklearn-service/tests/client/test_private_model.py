"""The estimator against the real application, over a real socket."""

from __future__ import annotations

import datetime as dt
import ipaddress
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pacsklearn_service import PrivateModel
from pacsklearn_service.channel import ApiKey, Channel
from pacsklearn_service.errors import (
    PriceError,
    ServiceBudgetError,
    ServiceError,
    ServiceRequestError,
    ServiceUnavailableError,
)
from service_house.house import N_COLUMNS, STEP, House, contested_rows, v2
from service_house.serving import ask, serving
from sklearn.base import clone, is_classifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from pacsklearn import Guarantee
from pacsklearn._sklearn_compat import html_diagram
from pacsklearn.exceptions import BudgetExhaustedError


def test_answers_are_those_of_the_service_and_paid_once(house: House, server: Any) -> None:
    rows, model, before = contested_rows(6, seed=11), ask(house, server, "ann"), house.spent
    assert model.preview(rows) == 6 * STEP
    assert house.spent == before
    answers = model.predict(rows)
    assert house.spent - before == 6 * STEP
    told = house.call("POST", "/v2/models/risk/infer", user="ann", json=v2(rows)).json()
    assert answers.tolist() == told["outputs"][0]["data"]
    assert model.predict(pd.DataFrame(rows, columns=model.feature_names_in_)).tolist() == (
        answers.tolist()
    )
    assert model.preview(rows) == 0.0
    assert model.remaining_budget_ == 1.0 - 6 * STEP
    assert (model.model_, model.answers_, model.step_budget_) == ("risk", "labels", STEP)
    assert model.classes_.tolist() == [0, 1]


def test_columns_go_by_their_names(house: House, server: Any) -> None:
    rows, model = contested_rows(3, seed=12), ask(house, server, "ann").fit()
    frame = pd.DataFrame(rows, columns=model.feature_names_in_)
    first, before = model.predict(frame), house.spent
    assert model.predict(frame[frame.columns[::-1]]).tolist() == first.tolist()
    assert house.spent == before
    with pytest.raises(ValueError, match="first"):
        model.predict(frame.drop(columns="x2"))
    with pytest.raises(ValueError, match="shape"):
        model.fit(rows[:, :2])
    for wrong in (np.full((1, 4), np.nan), [["a", 1, 2, 3]]):
        with pytest.raises(ValueError, match="Column"):
            model.predict(np.asarray(wrong, dtype=object))


def test_in_a_pipeline_and_in_cross_validation(house: House, server: Any) -> None:
    X, y = house.X[:30], house.y[:30]
    pipeline = make_pipeline(
        FunctionTransformer(lambda rows: rows * 1.0), ask(house, server, "bob")
    )
    scores = cross_val_score(pipeline, X, y, cv=3, scoring="accuracy")
    # A row has one stored answer: the folds together are one pass over all of them.
    whole = ask(house, server, "bob").fit(X, y)
    assert is_classifier(whole)
    assert np.mean(scores) == pytest.approx(np.mean(whole.predict(X) == y))
    assert whole.score(X, y) == pytest.approx(np.mean(scores))
    assert not hasattr(whole, "predict_proba")


def test_nothing_shows_the_key(house: House, server: Any, monkeypatch: Any) -> None:
    model = ask(house, server, "ann")
    secret = house.key("ann")
    pipeline = make_pipeline(FunctionTransformer(), clone(model))
    pipeline.set_params(privatemodel__key=secret)
    assert pipeline[-1].key == model.key
    shown = [repr(model), str(model.get_params()), repr(pipeline), html_diagram(pipeline)]
    shown += [repr(vars(model)), str(model.__getstate__())]
    assert not [text for text in shown if secret in text or secret.split("_", 2)[2] in text]
    monkeypatch.setenv("PACSKLEARN_SERVICE_KEY", secret)
    keyless = PrivateModel(server[0]).fit()
    assert secret.encode() not in pickle.dumps(keyless)
    rows = contested_rows(2, seed=13)
    assert pickle.loads(pickle.dumps(keyless)).predict(rows).shape == (2,)
    monkeypatch.delenv("PACSKLEARN_SERVICE_KEY")
    with pytest.raises(ValueError, match="PACSKLEARN_SERVICE_KEY"):
        PrivateModel(server[0]).predict(rows)
    with pytest.raises(ValueError, match="printable") as caught:
        PrivateModel(server[0], "pac_a_b\r\nX-Other: 1")
    assert "pac_a" not in str(caught.value)


def test_a_lost_reply_is_told_again_and_paid_once(house: House, server: Any) -> None:
    _, faults = server
    model, rows, before = ask(house, server, "ann").fit(), contested_rows(4, seed=14), house.spent
    faults.keys.clear()
    faults.next[:] = ["lost", 503]
    assert model.predict(rows).shape == (4,)
    assert len(faults.keys) == 3
    assert len(set(faults.keys)) == 1
    assert house.spent - before == 4 * STEP
    model.predict(rows)
    assert len(set(faults.keys)) == 2  # another call is another request
    faults.next[:] = ["lost", "lost"]
    with pytest.raises(ServiceUnavailableError, match="broke"):
        ask(house, server, "ann", retries=1).predict(rows)


def test_refusals_are_errors_of_pacsklearn(house: House, server: Any) -> None:
    rows, before = contested_rows(5, seed=15), house.spent
    poor = ask(house, server, "poor", quota=3 * STEP)
    with pytest.raises(BudgetExhaustedError) as caught:
        poor.predict(rows)
    error = caught.value
    assert isinstance(error, ServiceBudgetError)
    assert (error.kind, error.spent, error.ceiling) == ("quota-exhausted", 0.0, 3 * STEP)
    assert error.asked == 5 * STEP
    assert "quota of 0.00292969 nats" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    with pytest.raises(PriceError) as dear:
        ask(house, server, "ann", max_charge=4 * STEP).predict(rows)
    assert dear.value.facts["worst_case"] == 5 * STEP
    with pytest.raises(ServiceError, match="not-found"):
        ask(house, server, "ann", model="other").fit()
    with pytest.raises(ServiceError, match="unauthenticated"):
        PrivateModel(server[0], "pac_nobody_nothing").fit()
    with pytest.raises(ServiceRequestError, match=r"too-large|invalid"):
        Channel(server[0], ApiKey(house.key("ann")), timeout=60.0, retries=0, ca_file=None).post(
            "v2", "models", "risk", "infer", body=b"{}", headers={}
        )
    assert house.spent == before


def test_batches_share_max_charge(house: House, server: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("pacsklearn_service.private_model._BATCH", 4)
    rows, before = contested_rows(10, seed=16), house.spent
    with pytest.raises(PriceError):
        ask(house, server, "ann", max_charge=9 * STEP).predict(rows)
    assert house.spent == before
    exact = ask(house, server, "ann", max_charge=10 * STEP)
    assert exact.predict(rows).shape == (10,)
    assert house.spent - before == 10 * STEP


def test_the_guarantee(house: House, server: Any) -> None:
    found = ask(house, server, "ann").guarantee_
    assert isinstance(found, Guarantee)
    assert found.budget == 0.6875


@pytest.mark.parametrize(
    ("url", "words"),
    [("http://192.0.2.1:8470", "https"), ("ftp://localhost", "url"),
     ("https://ann:word@localhost", "user"), ("localhost:8470", "url")],
)  # fmt: skip
def test_addresses_that_a_key_must_not_go_to(url: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        PrivateModel(url, "pac_a_b").fit()
    assert "word" not in str(caught.value).replace("password", "")


def test_a_redirection_is_not_followed(house: House, server: Any) -> None:
    _, faults = server
    faults.next[:] = [307]
    with pytest.raises(ServiceError, match="http-307"):
        ask(house, server, "ann").predict(np.zeros((1, N_COLUMNS)))


def test_certificates_are_checked(house: House, tmp_path: Path) -> None:
    files = {"ssl_certfile": str(tmp_path / "own.pem"), "ssl_keyfile": str(tmp_path / "own.key")}
    certificate(*map(Path, files.values()))
    with serving(house, **files) as (url, faults):
        with pytest.raises(ServiceUnavailableError, match="ca_file"):
            PrivateModel(url, house.key("ann")).fit()
        assert faults.paths == []  # the key has not left
        trusted = PrivateModel(url, house.key("ann"), ca_file=files["ssl_certfile"])
        assert trusted.fit().model_ == "risk"
        with pytest.raises(ServiceUnavailableError):  # the name is checked too
            PrivateModel(url.replace("127.0.0.1", "localhost"), house.key("ann"),
                         ca_file=files["ssl_certfile"], retries=0).fit()  # fmt: skip


def certificate(to: Path, key_to: Path) -> None:
    """Self-signed, for 127.0.0.1."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key, now = ec.generate_private_key(ec.SECP256R1()), dt.datetime.now(dt.UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    built = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now,
                                now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    to.write_bytes(built.public_bytes(serialization.Encoding.PEM))
    key_to.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"timeout": 0.0}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"retries": -1}, "retries"),
        ({"model": 5}, "model"),
        ({"key": 5}, "key must be an API key"),
    ],
)
def test_parameters_out_of_range_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        PrivateModel("http://127.0.0.1:9", **{"key": "pac_a_b"} | parameters).fit()
