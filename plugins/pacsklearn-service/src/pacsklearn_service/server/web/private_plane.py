"""What a caller can know about a model and about its own budget, and long batches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.web.app import ask
from pacsklearn_service.server.web.data_plane import infer, read_rows
from pacsklearn_service.server.web.routes import MOST_NATS, forward
from pacsklearn_service.server.web.schemas import ROWS_BODY, Parameters
from pacsklearn_service.server.web.table_body import ARROW, CSV
from pacsklearn_service.server.web.v2_protocol import Rows

router = APIRouter(prefix="/v1", tags=["private plane"])

_TICK: Final = 0.5
_ENDED: Final = ("done", "failed")


class ReservationBody(BaseModel):
    """Nats to set aside, for how long, and what for."""

    model_config = ConfigDict(extra="forbid", strict=True)
    amount: Annotated[float, Field(gt=0, le=MOST_NATS)]
    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    note: Annotated[str, Field(max_length=200)] = ""


_MODEL: Final = "/models/{model}"
_get, _post = partial(forward, router, "GET"), partial(forward, router, "POST")
_delete = partial(forward, router, "DELETE")

_get("/models", "models", "Published models.", named="models")
_get(f"{_MODEL}/budget", "budget", "What the caller has spent and has left; nothing of others.")
_get(f"{_MODEL}/statement", "statement", "The guarantee, signed.")
_get(f"{_MODEL}/card", "card", "The model card, in Markdown.", media="text/markdown")
_get(f"{_MODEL}/reservations", "reservations", "What the caller set aside.", named="reservations")
_about = "Set a part of the caller's own quota aside."
_post(f"{_MODEL}/reservations", "reserve", _about, body=ReservationBody, status=201)
_delete(f"{_MODEL}/reservations/{{reservation}}", "release", "Give back what was not spent.")
_get("/jobs/{job}", "job", "How far a job is.")
_delete("/jobs/{job}", "delete_job", "Forget a job that has ended, its rows with it.")
_get("/jobs/{job}/result", "job_result", "Answers of a finished job.")


@router.post("/models/{model}/preview", openapi_extra=ROWS_BODY)
async def preview(request: Request, model: str) -> dict[str, Any]:
    """Return most that answering a batch can cost the caller; nothing is computed from the rows."""
    facts = await ask(request, "admit", model=model)
    rows = await read_rows(request, facts, ARROW, CSV)
    return await infer(request, facts, Rows(rows.content, Parameters(dry_run=True)))


@router.post("/models/{model}/jobs", status_code=202, openapi_extra=ROWS_BODY)
async def begin_job(request: Request, model: str) -> dict[str, Any]:
    """Begin to answer a long batch."""
    facts = await ask(request, "admit", model=model)
    rows = await read_rows(request, facts, ARROW, CSV)
    parameters = rows.parameters
    if parameters != Parameters(max_charge=parameters.max_charge):
        raise Problem("invalid", "Of the parameters a job takes max_charge alone.")
    return await ask(
        request,
        "answer_job",
        content=rows.content,
        model=model,
        loaded=facts["loaded"],
        max_charge=parameters.max_charge,
    )


@router.get("/jobs/{job}/events", response_class=StreamingResponse)
async def job_events(request: Request, job: str) -> Response:
    """Return the progress of a job as server-sent events, until it has ended."""
    # Before the stream begins: later there is no status left to refuse with.
    first = await ask(request, "job", job=job)

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
                state = await ask(request, "job", job=job)
            except Problem as problem:
                yield f"event: problem\ndata: {json.dumps(problem.document())}\n\n"
                return

    return StreamingResponse(events(), media_type="text/event-stream")
