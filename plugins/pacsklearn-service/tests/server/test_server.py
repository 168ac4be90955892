"""The processes themselves: clients that nobody here wrote, kills, and an orderly end."""

from __future__ import annotations

import asyncio
import datetime as dt
import gc
import ipaddress
import json
import os
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the extra service")

import uvicorn
from pacsklearn_service.server.server import Server
from pacsklearn_service.server.settings import Settings
from pacsklearn_service.server.web import worker as web
from service_house.house import v2
from service_house.live import Live, own_port, patience, wait_until_asleep
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

from pacsklearn.cli.app import app

KSERVE = os.environ.get("PACSKLEARN_KSERVE_PYTHON", "")


@pytest.fixture(scope="module")
def rows() -> Any:
    return load_breast_cancer().data


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    found = Live(tmp_path_factory.mktemp("live"))
    try:
        found.wait()
        found.key = found.demo_key()  # type: ignore[attr-defined]
        yield found
    finally:
        found.close()


def is_running(process: int) -> bool:
    """Whether a process is there and does something: who adopts it may not bury it at once."""
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False


def headers(live: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {live.key}"}


def test_a_triton_client(live: Live, rows: Any) -> None:
    triton = pytest.importorskip("tritonclient.http", reason="needs tritonclient[http]")
    with triton.InferenceServerClient(f"127.0.0.1:{live.port}") as client:
        assert client.is_server_live(headers(live))
        assert client.is_server_ready(headers(live))
        assert client.is_model_ready("demo", headers=headers(live))
        metadata = client.get_model_metadata("demo", headers=headers(live))
        assert metadata["outputs"][0]["datatype"] == "INT64"
        answers = []
        for binary in (True, False):
            tensor = triton.InferInput("X", [8, 30], "FP64")
            tensor.set_data_from_numpy(rows[:8], binary_data=binary)
            output = triton.InferRequestedOutput("predict", binary_data=binary)
            reply = client.infer("demo", [tensor], outputs=[output], headers=headers(live),
                                 parameters={"max_charge": 1.0})  # fmt: skip
            answers.append(reply.as_numpy("predict"))
            assert reply.get_response()["parameters"]["remaining"] <= 1.0
        assert np.array_equal(*answers)
        assert answers[0].dtype == np.int64
        tensor.set_data_from_numpy(np.asarray(rows[8:16]), binary_data=True)
        # What is wrong stands where the client looks for it.
        with pytest.raises(triton.InferenceServerException) as refused:
            client.infer("demo", [tensor], headers=headers(live), parameters={"max_charge": 0.0})
        assert "max_charge" in str(refused.value.message())


def test_the_printed_key_signs_the_statements(live: Live) -> None:
    from pacsklearn_service import PrivateModel

    printed = live.text().split("statements are signed by ")[1].split()[0]
    model = PrivateModel(live.url, live.key, public_key=printed)  # type: ignore[attr-defined]
    assert model.guarantee_.budget == 1 / 16
    assert model.guarantee_.for_release


def test_a_kserve_client(live: Live, rows: Any, tmp_path: Path) -> None:
    if not KSERVE:
        pytest.skip(
            "PACSKLEARN_KSERVE_PYTHON names no interpreter that has kserve, which needs other "
            "versions of packages than the tests and cannot be installed beside them"
        )
    program = tmp_path / "ask.py"
    program.write_text(
        "import asyncio, sys, numpy as np\n"
        "from kserve import InferInput, InferRequest, InferenceRESTClient, RESTConfig\n"
        "url, key = sys.argv[1:]\n"
        "async def main():\n"
        "    client = InferenceRESTClient(RESTConfig(protocol='v2'))\n"
        "    headers = {'Authorization': 'Bearer ' + key, 'Content-Type': 'application/json'}\n"
        "    assert await client.is_server_live(url, headers)\n"
        "    assert await client.is_server_ready(url, headers)\n"
        "    assert await client.is_model_ready(url, 'demo', headers)\n"
        "    tensor = InferInput('X', [2, 30], 'FP64')\n"
        "    tensor.set_data_from_numpy(np.ones((2, 30)), binary_data=False)\n"
        "    request = InferRequest(model_name='demo', infer_inputs=[tensor])\n"
        "    reply = await client.infer(url, request, model_name='demo', headers=headers)\n"
        "    print(reply.outputs[0].as_numpy().tolist())\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(  # noqa: S603 - named by whoever runs the tests
        [KSERVE, str(program), live.url, live.key],  # type: ignore[attr-defined]
        capture_output=True, text=True, timeout=120, check=False,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in ("[0, 0]", "[1, 1]")


def test_workers_hold_no_secret_and_are_begun_again(live: Live) -> None:
    before = live.workers()
    assert len(before) == 2
    key = live.folder / "service.key"
    assert key.exists()
    for worker in before:
        words = Path(f"/proc/{worker}/cmdline").read_bytes()
        assert b"pacsklearn_service" in words
        arguments = words.split(b"\0")
        link = arguments[4]  # its name is drawn at random
        assert b"key" not in words.replace(b"private_key", b"").replace(link, b"")
        opened = [
            str(link.readlink()) for link in Path(f"/proc/{worker}/fd").iterdir() if link.exists()
        ]
        assert not [name for name in opened if name.endswith((".db", key.name))]
    for worker in before:
        os.kill(worker, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and set(live.workers()) & set(before):
        time.sleep(0.05)
    live.wait(30)
    told = httpx.get(f"{live.url}/v1/models", headers=headers(live), timeout=10)
    assert told.json() == {"models": ["demo"]}


def health(live: Live, what: str) -> int:
    return httpx.get(f"http://127.0.0.1:{live.health_port}/{what}", timeout=60).status_code


@pytest.mark.soak
def test_a_standby_takes_over_and_speaks_tls_and_an_end_is_orderly(
    live: Live, rows: Any, tmp_path: Path
) -> None:
    certificate, private_key = self_signed(tmp_path)
    ports = live.port, live.curator_port
    standby = Live(live.folder, ports=ports, certificate=str(certificate),
                   private_key=str(private_key))  # fmt: skip
    try:
        path, body = "/v2/models/demo/infer", v2(rows[20:21])
        told = httpx.post(live.url + path, json=body, headers=headers(live), timeout=60)
        standby.wait_for("ready to take over")
        loaded = Path(f"/proc/{standby.process.pid}/maps").read_text()
        assert "opendp" in loaded  # what draws noise, and what runs compiled code
        assert "llvmlite" in loaded
        wait_until_asleep(standby)
        # Nobody takes a standby for dead, nor for one that answers.
        assert [health(live, what) for what in ("live", "ready", "")] == [200, 200, 404]
        assert [health(standby, what) for what in ("live", "ready")] == [200, 503]
        workers, killed = live.workers(), time.monotonic()
        # Whoever stands still is replaced as if it were dead, with its lock on the address.
        for process in (live.process.pid, *workers):
            os.kill(process, signal.SIGSTOP)
        standby.url = standby.url.replace("http:", "https:")
        context = ssl.create_default_context(cafile=str(certificate))
        standby.wait(60, verify=context)
        again = httpx.post(standby.url + path, json=body, headers=headers(live),
                           verify=context, timeout=60)  # fmt: skip
        assert time.monotonic() - killed < patience()
        assert again.json()["outputs"] == told.json()["outputs"]
        assert again.json()["parameters"]["charged"] == 0.0
        assert live.process.wait(60) == -signal.SIGKILL
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            httpx.get(f"{standby.url}/v2/health/live")
        with pytest.raises(httpx.HTTPError):  # nothing is answered in clear text
            httpx.get(f"http://127.0.0.1:{standby.port}/v2/health/live")
        curator = f"https://127.0.0.1:{standby.curator_port}/console/sign-in"
        assert httpx.get(curator, verify=context, timeout=60).is_success
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline and any(map(is_running, workers)):
            time.sleep(0.1)
        assert not any(map(is_running, workers))
        assert standby.stop() == 0
        assert "Traceback" not in standby.text()
    finally:
        standby.close()


def self_signed(folder: Path) -> tuple[Path, Path]:
    """Certificate of 127.0.0.1 and its key, as files."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), dt.datetime.now(dt.UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "service.test")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "private.pem"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files


def test_a_service_that_has_stopped_looks_for_no_garbage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which would take seconds, of those that a container is given to end."""
    stopped: list[Server] = []

    async def run(server: Server) -> None:
        await asyncio.to_thread(server._coordinator.stop)
        stopped.append(server)

    monkeypatch.setattr(Server, "run", run)
    monkeypatch.chdir(tmp_path)
    before = gc.get_freeze_count()
    try:
        assert CliRunner().invoke(app, ["service", "run"]).exit_code == 0
        assert len(stopped) == 1
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()


@pytest.mark.parametrize("stated", [
    {"host": "192.0.2.1"}, {"curator_host": "192.0.2.1"}, {"certificate": "one.pem"},
    {"most_roes": 5}, {"lease": 0}, {"oidc": {"issuer": "https://login.example.org"}},
    {"oidc": {"issuer": "i", "audience": "a", "jwks": "http://login.example.org/keys"}},
    {"lease": 1e300}, {"slot": True}, {"workers": 10**30}, {"most_worker_bytes": 2**20},
    {"curator_port": 8470}, {"health_port": 8471}, {"url": "ftp://127.0.0.1"},
    {"most_connections": 1},
])  # fmt: skip
def test_what_is_wrong_is_said_before_anything_is_made(
    tmp_path: Path, stated: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PACSKLEARN_SERVICE_DATABASE", "postgresql://me:se-cret@host/name")
    monkeypatch.chdir(tmp_path)
    lines = [
        f"{name} = {{{', '.join(f'{n} = {json.dumps(v)}' for n, v in each.items())}}}"
        if isinstance(each, dict)
        else f"{name} = {json.dumps(each)}"
        for name, each in stated.items()
    ]  # fmt: skip
    (tmp_path / "service.toml").write_text("\n".join(lines))
    refused = CliRunner().invoke(app, ["service", "run", "--config", "service.toml"])
    assert refused.exit_code == 2
    assert next(iter(stated)) in refused.output
    assert "Value error" not in refused.output
    assert "se-cret" not in refused.output
    assert [each.name for each in tmp_path.iterdir()] == ["service.toml"]


def test_the_environment_states_what_the_file_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PACSKLEARN_SERVICE_PORT", "9000")
    monkeypatch.setenv("PACSKLEARN_SERVICE_WORKERS", "3")
    monkeypatch.setenv("PACSKLEARN_SERVICE_OIDC__ISSUER", "https://login.example.org")
    (tmp_path / "service.toml").write_text(
        'workers = 2\n[oidc]\naudience = "models"\njwks = "https://login.example.org/keys"\n'
    )
    settings = Settings.read(tmp_path / "service.toml")
    assert (settings.port, settings.workers) == (9000, 2)
    assert settings.oidc is not None
    assert (settings.oidc.issuer, settings.oidc.user_claim) == ("https://login.example.org", "sub")
    assert "database" not in settings.for_workers()


@pytest.mark.parametrize("name", ["PACSKLEARN_SERVICE_MOST_ROES", "Pacsklearn_Service_Oidcs__Jwks"])
def test_a_misspelt_variable_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACSKLEARN_SERVICE_KEY", "pac_client")
    monkeypatch.setenv("PACSKLEARN_SERVICE_MOST_ROWS", "5")
    assert Settings.read(None).most_rows == 5
    monkeypatch.setenv(name, "se-cret")
    with pytest.raises(ValueError, match=name) as refused:
        Settings.read(None)
    assert "se-cret" not in str(refused.value)
    assert "MOST_ROWS" not in str(refused.value)


@pytest.mark.parametrize("options", [
    {"trust_proxy": True}, {"certificate": "one.pem", "private_key": "two.pem"},
])  # fmt: skip
def test_an_open_address_behind_tls_or_a_proxy(options: dict[str, Any]) -> None:
    assert not Settings().trust_proxy
    assert Settings(host="0.0.0.0", **options).host == "0.0.0.0"  # noqa: S104


def test_a_greeting_that_never_comes_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asyncio.constants, "SSL_HANDSHAKE_TIMEOUT", 60.0)  # and back afterwards
    monkeypatch.setattr(web, "_PATIENCE", 1)
    certificate, private_key = self_signed(tmp_path)
    settings = Settings(certificate=str(certificate), private_key=str(private_key))
    config = web._config(lambda *_: None, settings)
    config.lifespan, config.log_level = "off", "critical"
    own, server = own_port(), uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([own],), daemon=True)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        with socket.create_connection(own.getsockname(), timeout=20) as half:
            assert half.recv(1) == b""
    finally:
        server.should_exit = True
        thread.join(30)
