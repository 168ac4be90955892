"""Answers over the Open Inference Protocol (version 2), and as MLflow's server gives them."""

from __future__ import annotations

import hashlib
import time
from typing import Any, Final, final

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.rate_limit import RateLimit
from pacsklearn_service.server.signature import Signature
from pacsklearn_service.server.web.app import ask, content_kind, decoded, is_short
from pacsklearn_service.server.web.schemas import INVOCATION_BODY, V2_BODY, query
from pacsklearn_service.server.web.table_body import (
    ARROW,
    CSV,
    JSON,
    any_table,
    mlflow_table,
    written_arrow,
)
from pacsklearn_service.server.web.v2_protocol import Rows, metadata, read_v2, written_v2

router = APIRouter(tags=["data plane"])

_LONGEST_KEY: Final = 200
_BINARY: Final = "application/octet-stream"
_KEPT_SECONDS: Final = 1.0
_MOST_KEPT: Final = 10_000


@final
class Admissions:
    """Facts of models that callers may ask, kept for a second: many ask row after row.

    Parameters
    ----------
    per_minute : int
        Requests that one worker reads for a key or token.

    Notes
    -----
    The coordinator still counts each request, and checks its caller and quota, but with its rows
    and not before they are read. So an admission is good for short bodies, ends with the first
    refusal, and is counted here too.
    """

    def __init__(self, per_minute: int) -> None:
        self._requests = RateLimit(per_minute)
        self._kept: dict[tuple[bytes, str], tuple[dict[str, Any], float]] = {}

    async def facts(self, request: Request, model: str) -> dict[str, Any]:
        """Return the facts of a model for who may ask it now."""
        now, own = time.monotonic(), (request.state.digest, model)
        facts, until = self._kept.get(own, ({}, 0.0))
        if now < until and is_short(request):
            self._requests.take(request.state.digest.hex())
            return facts
        facts = await ask(request, "admit", model=model)
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[own] = facts | {"is_counted": False}, now + _KEPT_SECONDS
        return facts

    def forget(self, request: Request, model: str) -> None:
        """Ask for the admission anew: something was refused."""
        self._kept.pop((request.state.digest, model), None)


# Asked row after row: first, because routes are looked through in order, and the lower of the two
# before the other; without parameters, which FastAPI takes a tenth of a request's time to read.
@router.post("/v2/models/{model}/versions/{version}/infer", include_in_schema=False)
@router.post("/v2/models/{model}/infer", openapi_extra=V2_BODY)
async def infer_v2(request: Request) -> Response:
    """Return the private answers to the rows of a batch."""
    admissions: Admissions = request.app.state.admissions
    asked = _key(**request.path_params)
    reply = None
    while reply is None:
        facts = await admissions.facts(request, asked)
        try:
            rows = await read_rows(request, facts, ARROW)
            reply = await infer(request, facts, rows)
        except Problem as problem:
            admissions.forget(request, asked)
            if "loaded" not in problem.more:
                raise
    if rows.body is None:
        return _written(request, reply)
    content, header = written_v2(facts, rows.body, reply)
    if header is None:
        return Response(content, media_type=JSON)
    return Response(
        content, media_type=_BINARY, headers={"inference-header-content-length": str(header)}
    )


@router.get("/v2/health/live")
async def live() -> dict[str, bool]:
    """Return whether the process runs."""
    return {"live": True}


@router.get("/v2/health/ready")
async def ready(request: Request) -> dict[str, bool]:
    """Return whether it can answer."""
    await _need_ready(request)
    return {"ready": True}


@router.get("/ping")
async def ping(request: Request) -> Response:
    """Return whether it can answer, as MLflow asks."""
    await _need_ready(request)
    return Response("\n", media_type="application/json")


@router.get("/v2")
async def server() -> dict[str, Any]:
    """Return the name, version and extensions of the server."""
    from pacsklearn import __version__

    return {"name": "pacsklearn", "version": __version__, "extensions": ["binary_tensor_data"]}


@router.get("/v2/models/{model}")
@router.get("/v2/models/{model}/versions/{version}", include_in_schema=False)
async def model_metadata(request: Request, model: str, version: str = "") -> dict[str, Any]:
    """Return the columns and outputs of a model; of its newest version unless one is named."""
    return metadata(await ask(request, "model", model=_key(model, version)))


@router.get("/v2/models/{model}/ready")
@router.get("/v2/models/{model}/versions/{version}/ready", include_in_schema=False)
async def model_ready(request: Request, model: str, version: str = "") -> dict[str, Any]:
    """Return whether a model can answer."""
    await ask(request, "model", model=_key(model, version))
    return {"name": model, "ready": True}


@router.post("/invocations", openapi_extra=INVOCATION_BODY)
async def invocations(request: Request, model: str | None = None) -> Response:
    """Return the private answers as MLflow's scoring server gives them.

    ``model`` where there are several.
    """
    if model is None:
        names = await ask(request, "models")
        if len(names) != 1:
            listed = ", ".join(names) or "none, without a quota from the curator"
            raise Problem("invalid", f"Say which model: /invocations?model=... ({listed}).")
        model = names[0]
    facts = await ask(request, "admit", model=model)
    kind = content_kind(request) or JSON
    if kind == JSON:
        _check_address(request, "model")
        signature, body = Signature.from_facts(facts["signature"]), await request.body()
        most = request.app.state.settings.most_rows
        rows = await decoded(request, mlflow_table, body, signature, most)
    elif kind in (CSV, ARROW):
        rows = await read_rows(request, facts, CSV, ARROW)
    else:
        raise Problem("unsupported-media-type", f"Content-Type must be {JSON}, {CSV} or {ARROW}.")
    return _written(request, await infer(request, facts, rows))


async def infer(request: Request, facts: dict[str, Any], rows: Rows) -> dict[str, Any]:
    """Ask the coordinator."""
    key = request.headers.get("idempotency-key")
    if key is not None and not (0 < len(key) <= _LONGEST_KEY and key.isprintable()):
        raise Problem(
            "bad-request", f"Idempotency-Key must have 1 to {_LONGEST_KEY} printable characters."
        )
    # With the kind of body: the same bytes as a table of another kind are another request.
    digest = hashlib.blake2b(f"{request.url.path} {content_kind(request)}".encode(), digest_size=32)
    digest.update(await request.body())
    return await ask(
        request,
        "infer",
        content=rows.content,
        model=facts["asked"],
        loaded=facts["loaded"],
        is_counted=facts["is_counted"],
        key=key,
        body=digest.hexdigest(),
        **rows.parameters.model_dump(exclude={"binary_data_output"}),
    )


async def read_rows(request: Request, facts: dict[str, Any], *tables: str) -> Rows:
    """Return rows of a request: tensors, or a table of some kind with parameters in its address."""
    kind = content_kind(request)
    if kind in tables:
        content = await packed_table(request, facts, await request.body(), kind)
        return Rows(content, query(request.query_params))
    if kind not in (JSON, _BINARY, ""):
        kinds = ", ".join((JSON, *tables))
        raise Problem("unsupported-media-type", f"Content-Type must be one of {kinds}.")
    _check_address(request)
    length = request.headers.get("inference-header-content-length")
    most = request.app.state.settings.most_rows
    return await decoded(request, read_v2, await request.body(), length, facts, most)


def _written(request: Request, reply: dict[str, Any]) -> Response:
    """Return the answers to a table, in the form that it came in or that is asked for."""
    outputs, _ = reply.pop("outputs", {}), reply.pop("version", None)
    is_arrow = content_kind(request) == ARROW and outputs
    if is_arrow or ARROW in request.headers.get("accept", ""):
        return Response(written_arrow(outputs, reply), media_type=ARROW)
    return JSONResponse({"predictions": outputs.get("predict", []), "parameters": reply})


async def packed_table(request: Request, facts: dict[str, Any], body: bytes, kind: str) -> bytes:
    """Return the columns of a model, from a table with names, as its signature packs them."""
    settings, signature = request.app.state.settings, Signature.from_facts(facts["signature"])
    most, most_bytes = settings.most_rows, 4 * settings.most_bytes
    table = await decoded(request, any_table, body, kind, most=most, most_bytes=most_bytes)
    return signature.packed(signature.checked(table, most=most))


def _check_address(request: Request, *known: str) -> None:
    """Refuse parameters that stand where nothing reads them: max_charge might be among them."""
    if not set(request.query_params) <= set(known):
        raise Problem("invalid", "The parameters of a JSON request stand in its body.")


async def _need_ready(request: Request) -> None:
    if not await request.app.state.link.ask("ready"):
        raise Problem("unavailable", "No process holds the lease yet.", retry_after=2)


def _key(model: str, version: str = "") -> str:
    """Return the name by which the coordinator finds a version; without one, the newest."""
    return f"{model}@{version}" if version else model
