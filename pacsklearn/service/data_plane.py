"""Answers over the Open Inference Protocol (version 2), and as MLflow's server gives them."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from pacsklearn.service.caller import Caller
from pacsklearn.service.json_body import number_or_none
from pacsklearn.service.problem import Problem
from pacsklearn.service.schemas import INVOCATION_BODY, V2_BODY
from pacsklearn.service.signature import Signature
from pacsklearn.service.table_body import (
    ARROW,
    CSV,
    JSON,
    PARQUET,
    any_table,
    mlflow_table,
    written_arrow,
)
from pacsklearn.service.v2_protocol import V2Request, metadata, read_v2, written_v2
from pacsklearn.service.web import ask, caller_of, content_kind

router = APIRouter(tags=["data plane"])

_LONGEST_KEY: Final = 200
_BINARY: Final = "application/octet-stream"


@router.get("/v2/health/live")
async def live() -> dict[str, bool]:
    """Whether the process runs."""
    return {"live": True}


@router.get("/v2/health/ready")
async def ready(request: Request) -> dict[str, bool]:
    """Whether it can answer."""
    await _need_ready(request)
    return {"ready": True}


@router.get("/ping")
async def ping(request: Request) -> Response:
    """Whether it can answer, as MLflow asks."""
    await _need_ready(request)
    return Response("\n", media_type="application/json")


@router.get("/v2")
async def server() -> dict[str, Any]:
    """Name, version and extensions of the server."""
    from pacsklearn import __version__

    return {"name": "pacsklearn", "version": __version__, "extensions": ["binary_tensor_data"]}


@router.get("/v2/models/{model}")
@router.get("/v2/models/{model}/versions/{version}", include_in_schema=False)
async def model_metadata(request: Request, model: str, version: str = "1") -> dict[str, Any]:
    """Columns and outputs of a model."""
    _first(version)
    return metadata(await ask(request, "model", model=model))


@router.get("/v2/models/{model}/ready")
@router.get("/v2/models/{model}/versions/{version}/ready", include_in_schema=False)
async def model_ready(request: Request, model: str, version: str = "1") -> dict[str, Any]:
    """Whether a model can answer."""
    _first(version)
    await ask(request, "model", model=model)
    return {"name": model, "ready": True}


@router.post("/v2/models/{model}/infer", openapi_extra=V2_BODY)
@router.post("/v2/models/{model}/versions/{version}/infer", include_in_schema=False)
async def infer_v2(request: Request, model: str, version: str = "1") -> Response:
    """Private answers to the rows of a batch."""
    _first(version)
    caller = await caller_of(request)
    facts, body = await ask(request, "model", caller, model=model), await request.body()
    kind = content_kind(request)
    if kind in (ARROW, PARQUET):
        return await _table(request, caller, facts, body, kind)
    if kind not in (JSON, _BINARY, ""):
        raise Problem(
            "unsupported-media-type", f"Content-Type must be {JSON}, {ARROW} or {PARQUET}."
        )
    parsed = v2_request(request, facts, body)
    reply = await infer(request, caller, facts, parsed.columns, body, parsed.parameters)
    if "outputs" not in reply:  # a dry run
        return JSONResponse(
            {"model_name": model, "model_version": "1", "parameters": reply, "outputs": []}
        )
    content, header = written_v2(facts, parsed, reply)
    if header is None:
        return Response(content, media_type=JSON)
    return Response(
        content, media_type=_BINARY, headers={"inference-header-content-length": str(header)}
    )


@router.post("/invocations", openapi_extra=INVOCATION_BODY)
async def invocations(request: Request, model: str | None = None) -> Response:
    """Private answers as MLflow's scoring server gives them; ``model`` where there are several."""
    caller = await caller_of(request)
    if model is None:
        names = await ask(request, "models", caller)
        if len(names) != 1:
            raise Problem("invalid", "Say which model: /invocations?model=...")
        model = names[0]
    facts, body = await ask(request, "model", caller, model=model), await request.body()
    kind = content_kind(request) or JSON
    if kind in (ARROW, PARQUET, CSV):
        return await _table(request, caller, facts, body, kind)
    if kind != JSON:
        raise Problem("unsupported-media-type", f"Content-Type must be {JSON}, {CSV} or {ARROW}.")
    signature = Signature.from_facts(facts["signature"])
    columns, parameters = mlflow_table(body, signature)
    checked = signature.checked(columns, most=request.app.state.settings.most_rows)
    reply = await infer(request, caller, facts, checked, body, parameters)
    outputs = reply.pop("outputs", {})
    return JSONResponse({"predictions": outputs.get("predict", []), "parameters": reply})


async def infer(
    request: Request,
    caller: Caller,
    facts: dict[str, Any],
    columns: dict[str, Any],
    body: bytes,
    parameters: dict[str, Any],
) -> dict[str, Any]:
    """Ask the coordinator."""
    key = request.headers.get("idempotency-key")
    if key is not None and not (0 < len(key) <= _LONGEST_KEY and key.isprintable()):
        raise Problem(
            "bad-request", f"Idempotency-Key must have 1 to {_LONGEST_KEY} printable characters."
        )
    dry_run = parameters.get("dry_run", False)
    if dry_run not in (True, False, "true", "false"):
        raise Problem("invalid", "dry_run must be true or false.")
    reservation = parameters.get("reservation")
    if reservation is not None and not isinstance(reservation, str):
        raise Problem("invalid", "reservation must be the name of one of yours.")
    # With the kind of body: the same bytes as a table of another kind are another request.
    digest = hashlib.blake2b(f"{request.url.path} {content_kind(request)}".encode(), digest_size=32)
    digest.update(body)
    return await ask(
        request,
        "infer",
        caller,
        content=Signature.from_facts(facts["signature"]).packed(columns),
        model=facts["name"],
        key=key,
        body=digest.hexdigest(),
        max_charge=number_or_none(parameters.get("max_charge"), "max_charge"),
        dry_run=dry_run in (True, "true"),
        reservation=reservation,
    )


async def _table(
    request: Request, caller: Caller, facts: dict[str, Any], body: bytes, kind: str
) -> Response:
    """Answer a table, in the form that it came in or that is asked for."""
    columns = table_columns(request, facts, body, kind)
    reply = await infer(request, caller, facts, columns, body, dict(request.query_params))
    outputs = reply.pop("outputs", {})
    if ARROW in request.headers.get("accept", "") or (kind != CSV and outputs):
        return Response(written_arrow(outputs, reply), media_type=ARROW)
    return JSONResponse({"predictions": outputs.get("predict", []), "parameters": reply})


def table_columns(
    request: Request, facts: dict[str, Any], body: bytes, kind: str
) -> dict[str, Any]:
    """Columns of a model, from a table with names."""
    settings, signature = request.app.state.settings, Signature.from_facts(facts["signature"])
    table = any_table(body, kind, most=settings.most_rows, most_bytes=4 * settings.most_bytes)
    return signature.checked(table, most=settings.most_rows)


def v2_request(request: Request, facts: dict[str, Any], body: bytes) -> V2Request:
    """What a request of tensors asks of a model."""
    length = request.headers.get("inference-header-content-length")
    signature = Signature.from_facts(facts["signature"])
    return read_v2(body, length, signature, request.app.state.settings.most_rows)


async def _need_ready(request: Request) -> None:
    if not await request.app.state.link.ask("ready"):
        raise Problem("unavailable", "No process holds the lease yet.", retry_after=2)


def _first(version: str) -> None:
    if version != "1":
        raise Problem("not-found", "There is no such version; every model has version 1.")
