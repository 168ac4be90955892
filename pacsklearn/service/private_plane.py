"""What a caller can know about a model and about its own budget, and long batches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from pacsklearn.service.caller import Caller
from pacsklearn.service.data_plane import infer, table_columns, v2_request
from pacsklearn.service.json_body import number_or_none
from pacsklearn.service.problem import Problem
from pacsklearn.service.schemas import ROWS_BODY
from pacsklearn.service.signature import Signature
from pacsklearn.service.table_body import ARROW, CSV, PARQUET
from pacsklearn.service.web import ask, caller_of, content_kind

router = APIRouter(prefix="/v1", tags=["private plane"])

_TICK: Final = 0.5
_ENDED: Final = ("done", "failed")


class ReservationBody(BaseModel):
    """Nats to set aside, for how long, and what for."""

    model_config = ConfigDict(extra="forbid", strict=True)
    amount: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    note: Annotated[str, Field(max_length=200)] = ""


@router.get("/models")
async def models(request: Request) -> dict[str, list[str]]:
    """Published models."""
    return {"models": await ask(request, "models")}


@router.post("/models/{model}/preview", openapi_extra=ROWS_BODY)
async def preview(request: Request, model: str) -> dict[str, Any]:
    """The most that answering a batch can cost the caller; nothing is computed from the rows."""
    caller = await caller_of(request)
    facts, columns, body, _ = await _rows(request, caller, model)
    return await infer(request, caller, facts, columns, body, {"dry_run": True})


@router.get("/models/{model}/budget")
async def budget(request: Request, model: str) -> dict[str, Any]:
    """What the caller has spent and has left; nothing about others."""
    return await ask(request, "budget", model=model)


@router.get("/models/{model}/statement")
async def statement(request: Request, model: str) -> dict[str, Any]:
    """The guarantee, signed."""
    return await ask(request, "statement", model=model)


@router.get("/models/{model}/card", response_class=PlainTextResponse)
async def card(request: Request, model: str) -> Response:
    """The model card, in Markdown."""
    text = await ask(request, "card", model=model)
    return PlainTextResponse(text, media_type="text/markdown")


@router.get("/models/{model}/reservations")
async def reservations(request: Request, model: str) -> dict[str, Any]:
    """What the caller has set aside."""
    return {"reservations": await ask(request, "reservations", model=model)}


@router.post("/models/{model}/reservations", status_code=201)
async def reserve(request: Request, model: str, body: ReservationBody) -> dict[str, Any]:
    """Set a part of the caller's own quota aside."""
    return await ask(request, "reserve", model=model, **body.model_dump())


@router.delete("/models/{model}/reservations/{reservation}")
async def release(request: Request, model: str, reservation: str) -> dict[str, Any]:
    """Give back what was not spent."""
    return await ask(request, "release", model=model, reservation=reservation)


@router.post("/models/{model}/jobs", status_code=202, openapi_extra=ROWS_BODY)
async def begin_job(request: Request, model: str) -> dict[str, Any]:
    """Begin to answer a long batch."""
    caller = await caller_of(request)
    facts, columns, _, parameters = await _rows(request, caller, model)
    return await ask(
        request,
        "answer_job",
        caller,
        content=Signature.from_facts(facts["signature"]).packed(columns),
        model=model,
        max_charge=number_or_none(parameters.get("max_charge"), "max_charge"),
    )


@router.get("/jobs/{job}")
async def job_state(request: Request, job: str) -> dict[str, Any]:
    """How far a job is."""
    return await ask(request, "job", job=job)


@router.get("/jobs/{job}/result")
async def job_result(request: Request, job: str) -> dict[str, Any]:
    """Answers of a finished job."""
    return await ask(request, "job_result", job=job)


@router.get("/jobs/{job}/events", response_class=StreamingResponse)
async def job_events(request: Request, job: str) -> Response:
    """Progress of a job as server-sent events, until it has ended."""
    caller, link = await caller_of(request), request.app.state.link
    # Before the stream begins: later there is no status left to refuse with.
    first = await link.ask("job", caller, job=job)

    async def events() -> AsyncIterator[str]:
        known: dict[str, Any] = {}
        state = first
        while True:
            if state != known:
                known = state
                yield f"event: progress\ndata: {json.dumps(state)}\n\n"
            if state["status"] in _ENDED:
                return
            await asyncio.sleep(_TICK)
            try:
                state = await link.ask("job", caller, job=job)
            except Problem as problem:
                yield f"event: problem\ndata: {json.dumps(problem.document())}\n\n"
                return

    return StreamingResponse(events(), media_type="text/event-stream")


async def _rows(
    request: Request, caller: Caller, model: str
) -> tuple[dict[str, Any], dict[str, Any], bytes, dict[str, Any]]:
    facts = await ask(request, "model", caller, model=model)
    body, kind = await request.body(), content_kind(request)
    if kind in (ARROW, PARQUET, CSV):
        columns = table_columns(request, facts, body, kind)
        return facts, columns, body, dict(request.query_params)
    parsed = v2_request(request, facts, body)
    return facts, parsed.columns, body, parsed.parameters
