"""Keys and tokens: closed by default, rationed, and never shown."""

from __future__ import annotations

import asyncio
import base64
import hmac
import logging
import secrets
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from fastapi import Request
from joserfc import jwt
from joserfc.jwk import KeySet, OKPKey, RSAKey
from pacsklearn_service.server.answering import oidc
from pacsklearn_service.server.answering.oidc import OidcVerifier
from pacsklearn_service.server.key_form import marked
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.settings import Oidc
from pacsklearn_service.server.store.api_keys import ApiKeys
from pacsklearn_service.server.web.authenticator import Authenticator, address_of
from pacsklearn_service.server.web.worker import caller_app
from service_house.house import House, contested_rows, v2
from service_house.local_link import LocalLink


def status(house: House, key: str) -> int:
    headers = {"authorization": f"Bearer {key}"}
    code: int = house.call("GET", "/v1/models", headers=headers, anew=True).status_code
    return code


def test_keys_expire_rotate_and_are_revoked(house: House) -> None:
    house.user("kim")
    database = house.coordinator.database
    with database.writing() as connection:
        keys = ApiKeys(connection, house.coordinator.vault)
        name, key = keys.issue("kim", None, ["ask"], 1.0).values()
        short = keys.issue("kim", None, ["ask"], 0.01 / 86400)["key"]
    time.sleep(0.02)
    assert (status(house, key), status(house, short)) == (200, 401)
    rotated = house.call("POST", f"/v1/keys/{name}/rotate", user="curator", json={"grace": 0})
    assert rotated.status_code == 201
    assert (status(house, key), status(house, rotated.json()["key"])) == (401, 200)
    gone = house.call("DELETE", f"/v1/keys/{rotated.json()['name']}", user="curator")
    assert gone.status_code == 200
    assert status(house, rotated.json()["key"]) == 401
    listed = house.call("GET", "/v1/keys", user="curator").text
    for secret in (key, rotated.json()["key"]):
        assert secret.split("_", 2)[2] not in listed


def test_only_a_sealed_hash_is_stored(house: House) -> None:
    key = house.key("ann-of-ward-seven")
    _, name, secret = key.split("_", 2)
    vault = house.coordinator.vault
    with house.coordinator.database.reading() as connection:
        (row,) = connection.ask("SELECT facts FROM service_keys WHERE id = ?", name)
    opened = vault.open(row["facts"], f"key/{name}")
    for text in (b"ann-of-ward-seven", b'"scopes": ["ask"]'):  # too long for sealed bytes by chance
        assert text in opened
        assert text not in row["facts"]
    assert secret.encode() not in row["facts"] + opened


def test_whoever_can_write_the_database_makes_no_key(house: House) -> None:
    known, other = house.key("ann"), secrets.token_hex(8)
    _, name, secret = known.split("_", 2)
    with house.coordinator.database.writing() as connection:
        (row,) = connection.ask("SELECT facts FROM service_keys WHERE id = ?", name)
        connection.insert("service_keys", id=other, facts=row["facts"])
    assert status(house, known) == 200
    assert status(house, f"pac_{other}_{secret}") == 401
    # Not even with the mark, which web workers know as well.
    shown = marked(f"pac_{other}_{secret}"[:-16], house.coordinator.vault.form_of_keys)
    assert status(house, shown) == 503
    with house.coordinator.database.writing() as connection:
        connection.change("DELETE FROM service_keys WHERE id = ?", other)


@pytest.mark.parametrize("shown", ["", "pac", "pac__", "pac_x", "other_{name}_{secret}",
                                   "pac_{name}_", "pac_{name}_{secret}x",
                                   "pac_x_{secret}"])  # fmt: skip
def test_what_is_no_key_is_nobodys(house: House, shown: str) -> None:
    _, name, secret = house.key("ann").split("_", 2)
    assert house.coordinator.callers.find(shown.format(name=name, secret=secret)) is None


def test_a_key_is_believed_for_a_moment_by_workers_and_never_after_its_end_by_the_coordinator(
    house: House,
) -> None:
    key = house.key("moe")
    app = house.app(caller_app, anew=True)

    async def get(path: str) -> int:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            headers = {"authorization": f"Bearer {key}"}
            return (await client.get(path, headers=headers)).status_code

    assert asyncio.run(get("/v1/models")) == 200
    house.call("DELETE", f"/v1/keys/{key.split('_')[1]}", user="curator")
    # The worker remembers the caller; the coordinator is asked, and does not.
    assert asyncio.run(get("/v1/models")) == 401
    assert house.coordinator.callers.find(key) is None


def test_guesses_are_rationed(new_house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    house = new_house(failures_per_minute=2)
    authenticator = Authenticator(LocalLink(house.operations), house.settings)
    scope: dict[str, Any] = {"type": "http", "client": ("192.0.2.1", 1),
                             "headers": [(b"x-forwarded-for", b"203.0.113.9")]}  # fmt: skip

    async def guess(key: str) -> str:
        try:
            shown = (b"authorization", f"Bearer {key}".encode())
            await authenticator.caller(Request(scope | {"headers": [shown]}))
        except Problem as problem:
            return problem.kind + (" sign-ins" if "sign-ins" in problem.detail else "")
        return "let in"

    async def guesses() -> list[str]:
        return [await guess(f"pac_0_{i}") for i in range(3)]

    assert asyncio.run(guesses()) == ["unauthenticated"] * 2 + ["too-many-requests sign-ins"]
    # A key that was just issued to somebody at the guesser's address is let in at once; one that
    # was revoked is looked up, and then known for a while to be nobody's.
    assert asyncio.run(guess(house.key("ann"))) == "let in"
    revoked = house.key("bob")
    house.call("DELETE", f"/v1/keys/{revoked.split('_')[1]}", user="curator")
    asked: list[str] = []
    find = house.coordinator.callers.find
    monkeypatch.setattr(
        house.coordinator.callers, "find", lambda key: asked.append(key) or find(key)
    )
    assert [asyncio.run(guess(revoked)) for _ in range(3)] == ["unauthenticated"] * 3
    assert asyncio.run(guess("pac_0_9")) == "too-many-requests sign-ins"
    assert asked == [revoked]
    # A proxy's word is taken only where that was switched on.
    assert address_of(Request(scope), house.settings) == "192.0.2.1"
    trusting = house.settings.model_copy(update={"trust_proxy": True})
    assert address_of(Request(scope), trusting) == "203.0.113.9"
    scope["headers"] = []
    same = [{**scope, "client": (f"2001:db8:0:7::{i:x}", 1)} for i in range(3)]
    assert {address_of(Request(each), trusting) for each in same} == {"2001:db8:0:7::"}
    assert address_of(Request({**scope, "client": None}), trusting) == ""


@pytest.mark.parametrize(
    ("lines", "address"),
    [(["192.0.2.7, 203.0.113.9"], "203.0.113.9"), (["192.0.2.7", "203.0.113.9"], "203.0.113.9"),
     (["203.0.113.9:4711"], "203.0.113.9"), (["[2001:db8:0:7::1]:4711"], "2001:db8:0:7::"),
     (["[2001:db8:0:7::1]"], "2001:db8:0:7::"), (["::ffff:203.0.113.9"], "203.0.113.9"),
     (["unknown"], "unknown"), ([], "192.0.2.1")],
)  # fmt: skip
def test_what_a_proxy_adds_is_the_address(house: House, lines: list[str], address: str) -> None:
    headers = [(b"x-forwarded-for", each.encode()) for each in lines]
    scope = {"type": "http", "client": ("192.0.2.1", 1), "headers": headers}
    trusting = house.settings.model_copy(update={"trust_proxy": True})
    assert address_of(Request(scope), trusting) == address


def test_callers_of_version_4_are_told_apart_at_a_socket_of_both(house: House) -> None:
    scopes = [{"type": "http", "headers": [], "client": (f"::ffff:192.0.2.{i}", 1)} for i in (1, 2)]
    assert [address_of(Request(each), house.settings) for each in scopes] == [
        "192.0.2.1", "192.0.2.2"]  # fmt: skip


SIGNER = RSAKey.generate_key(2048, {"kid": "one"}, private=True)
NEXT = OKPKey.generate_key("Ed25519", {"kid": "two"}, private=True)


def token(key: Any = SIGNER, alg: str = "RS256", **changes: Any) -> str:
    claims = {"iss": "https://id.test", "aud": "clinic", "exp": int(time.time()) + 60,
              "sub": "ann", "scope": "openid ask", "project": "p1"} | changes  # fmt: skip
    header = {"alg": alg, "kid": key.kid} if key.kid else {"alg": alg}
    return jwt.encode(header, {k: v for k, v in claims.items() if v is not None}, key,
                      algorithms=[alg])  # fmt: skip


OIDC = Oidc(issuer="https://id.test", audience="clinic", jwks="https://id.test/jwks")


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The issuer's own."""
    found: list[Any] = [SIGNER]
    monkeypatch.setattr(oidc, "fetch_keys", lambda _: KeySet(found).as_dict(private=False))
    return found


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found = [0.0]
    monkeypatch.setattr(oidc, "time", SimpleNamespace(monotonic=lambda: found[0]))
    return found


def verifier() -> OidcVerifier:
    found = OidcVerifier(OIDC)
    read(found)
    return found


def read(found: OidcVerifier) -> None:
    assert found.reading is not None
    found.reading.join()


def test_a_token_names_a_caller(keys: list[Any]) -> None:
    end = int(time.time()) + 60
    found = verifier().caller(token(exp=end))
    assert found is not None
    caller, until = found
    assert until == end
    assert (caller.user, caller.project, caller.scopes) == ("ann", "p1", frozenset({"ask"}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"iss": "https://other.test"},
        {"aud": "another"},
        {"exp": int(time.time()) - 3600},
        {"exp": None},
        {"exp": 10**400},  # no double
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"exp": "soon"},
        {"aud": None},
        {"iss": None},
        {"sub": None},
        {"nbf": 4_102_444_800},
        {"project": 7},  # not as if it named none
        {"project": ["p1"]},
    ],
)
def test_wrong_claims_are_refused(wrong: dict[str, Any], keys: list[Any]) -> None:
    assert verifier().caller(token(**wrong)) is None


def test_wrong_signatures_are_refused(keys: list[Any]) -> None:
    # The public key as the secret of a symmetric algorithm.
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","kid":"one"}').rstrip(b"=").decode()
    signed = f"{head}.{token().split('.')[1]}".encode()
    mac = hmac.digest(SIGNER.as_pem(private=False), signed, "sha256")
    forged = f"{signed.decode()}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"
    body = token().split(".")
    stripped = "eyJhbGciOiJub25lIn0." + body[1] + "."
    for bad in (forged, stripped, token()[:-4], "a.b.c", "", "x" * 20_000):
        assert verifier().caller(bad) is None


def test_keys_are_not_read_where_somebody_on_the_way_can_change_them() -> None:
    class Moved(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            to = "http://id.test/jwks" if self.path == "/elsewhere" else "/here"
            self.send_response(200 if self.path == "/here" else 302)
            self.send_header("location", to)
            self.end_headers()
            self.wfile.write(b"{}")

    with HTTPServer(("127.0.0.1", 0), Moved) as issuer:
        threading.Thread(target=issuer.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{issuer.server_port}"
        assert oidc.fetch_keys(f"{url}/moved") == {}
        with pytest.raises(ValueError, match="https"):
            oidc.fetch_keys(f"{url}/elsewhere")
        issuer.shutdown()


def test_keys_of_the_issuer_change(keys: list[Any], now: list[float]) -> None:
    found = verifier()
    assert found.caller(token()) is not None
    keys[:] = [NEXT]
    assert found.caller(token(NEXT, "Ed25519")) is None  # read a moment ago
    now[0] += 11
    with suppress(Problem):  # they are being read
        found.caller(token(NEXT, "Ed25519"))
    read(found)
    assert found.caller(token(NEXT, "Ed25519")) is not None
    assert found.caller(token()) is None


def test_nobody_waits_for_a_slow_issuer(now: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    keys = KeySet([SIGNER]).as_dict(private=False)

    def fetch(_: str) -> Any:
        go.wait(60)
        return keys

    monkeypatch.setattr(oidc, "fetch_keys", fetch)
    found = OidcVerifier(OIDC)
    with pytest.raises(Problem, match="being read"):  # no key is there yet
        found.caller(token())
    go.set()
    read(found)
    go.clear()
    now[0] += 301
    assert found.caller(token()) is not None  # by the keys of before
    assert found.reading is not None
    assert found.reading.is_alive()
    with pytest.raises(Problem) as refused:
        found.caller(token(NEXT, "Ed25519"))
    assert refused.value.status == 503
    go.set()
    read(found)


def test_a_key_that_was_revoked_is_no_token(new_house: Any, monkeypatch: Any) -> None:
    """It has nothing to do with the issuer's keys, which would be read anew for it."""
    read_of: list[str] = []
    monkeypatch.setattr(oidc, "fetch_keys", read_of.append)
    house = new_house(oidc=OIDC)
    house.user("ann")
    key = house.key("ann")
    house.call("DELETE", f"/v1/keys/{key.split('_')[1]}", user="curator")
    time.sleep(0.05)
    monkeypatch.setattr(oidc, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + 1000))
    assert status(house, key) == 401
    assert len(read_of) == 1  # when the service began


def test_no_row_or_key_in_logs_metrics_and_errors(
    house: House, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, rows = house.key("quillon"), contested_rows(1) + 314159265358.0
    model = house.coordinator.hosted("risk")
    with caplog.at_level(logging.DEBUG):
        house.call("POST", "/v2/models/risk/infer", user="quillon", json=v2(rows))

        def broken(*_: object) -> None:
            raise RuntimeError(f"the rows were {rows!r}")

        with monkeypatch.context() as patch:
            patch.setattr(type(model.records), "look_up", broken)
            failed = house.call("POST", "/v2/models/risk/infer", user="quillon", json=v2(rows))
    assert failed.status_code == 500
    metrics = house.call("GET", "/metrics", user="curator").text
    assert 'pacsklearn_requests_total{model="risk",outcome="answered"}' in metrics
    shown = caplog.text + metrics + failed.text
    for private in (key, key.split("_", 2)[2], "14159265"):  # as 3.14159265e+11, too
        assert private not in shown
    assert "quillon" not in metrics
