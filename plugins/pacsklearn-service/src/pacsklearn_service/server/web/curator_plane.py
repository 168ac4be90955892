"""What the curator does, on an address and with a scope of its own."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.signature import Signature
from pacsklearn_service.server.web.app import ask, content_kind, decoded
from pacsklearn_service.server.web.schemas import TABLE_BODY
from pacsklearn_service.server.web.table_body import any_table

router = APIRouter(prefix="/v1", tags=["curator plane"])

_MOST_ROWS = 5_000_000
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")]
Nats = Annotated[float, Field(gt=0, allow_inf_nan=False)]
After = Annotated[int, Query(ge=0, le=2**53)]
Limit = Annotated[int, Query(ge=1, le=1000)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FitBody(_Body):
    """Which candidates to fit, and what they may reveal."""

    name: Name
    dataset: Name
    estimator: Annotated[str, Field(max_length=500)]
    params: dict[str, Any] | None = None
    budget: Nats
    query_budget: Nats | None = None
    max_answers: Annotated[int, Field(ge=1, le=2**53)] | None = None
    answers: Literal["auto", "labels", "probabilities", "values"] = "auto"
    value_range: tuple[float, float] | None = None
    n_subsets: Annotated[int, Field(ge=2, le=4096)] = 128


class MemberBody(_Body):
    """A user or a project."""

    name: Annotated[str, Field(max_length=63)]
    note: Annotated[str, Field(max_length=200)] = ""


class QuotaBody(_Body):
    """What a user or a project may spend of a data set, and whether that may exceed its budget."""

    kind: Literal["user", "project"]
    name: Name
    ceiling: Nats
    overcommit: bool = False


class KeyBody(_Body):
    """Whose key, what it is good for, and for how long."""

    user: Name
    project: Name | None = None
    scopes: Annotated[list[Literal["ask", "curate"]], Field(min_length=1, max_length=2)]
    days: Annotated[float, Field(gt=0, le=3660)] = 90.0


class RotateBody(_Body):
    """How long the new key lasts, and how long the old one goes on."""

    days: Annotated[float, Field(gt=0, le=3660)] = 90.0
    grace: Annotated[float, Field(ge=0, le=30 * 86400)] = 86400.0


@router.get("/datasets")
async def datasets(request: Request) -> dict[str, Any]:
    """Data sets, with what was spent and is left of each."""
    return {"datasets": await ask(request, "datasets")}


@router.post("/datasets", status_code=201, openapi_extra=TABLE_BODY)
async def add_dataset(
    request: Request,
    name: Annotated[str, Query(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")],
    target: Annotated[str, Query(max_length=1000)],
    ceiling: Annotated[float, Query(gt=0, allow_inf_nan=False)],
) -> dict[str, Any]:
    """Register a table (CSV, Parquet, Arrow or JSON) under a ceiling that is never changed."""
    (await request.app.state.authenticator.caller(request)).need("curate")
    body, most_bytes = await request.body(), 16 * request.app.state.settings.most_bytes
    table = await decoded(
        request, any_table, body, content_kind(request), most=_MOST_ROWS, most_bytes=most_bytes
    )
    if len(table) < 2:
        raise Problem("invalid", "A data set has a target, and at least one more column.")
    signature = Signature.exact(table)
    columns = signature.checked(table, most=_MOST_ROWS)
    return await ask(
        request,
        "add_dataset",
        content=signature.packed(columns),
        name=name,
        target=target,
        ceiling=ceiling,
        signature=signature.facts(),
    )


@router.get("/datasets/{dataset}")
async def dataset_facts(request: Request, dataset: str) -> dict[str, Any]:
    """One data set."""
    reply = await ask(request, "datasets", dataset=dataset)
    if not reply:
        raise Problem("not-found", "There is no data set of this name.")
    return reply[0]


@router.delete("/datasets/{dataset}")
async def delete_dataset(request: Request, dataset: str) -> dict[str, Any]:
    """Forget a table without models; its ledger stays, and nothing that was charged comes back."""
    return await ask(request, "delete_dataset", dataset=dataset)


@router.get("/datasets/{dataset}/quotas")
async def quotas(request: Request, dataset: str) -> dict[str, Any]:
    """What each user and project may spend, and has spent."""
    return {"quotas": await ask(request, "quotas", dataset=dataset)}


@router.put("/datasets/{dataset}/quotas")
async def set_quota(request: Request, dataset: str, body: QuotaBody) -> dict[str, Any]:
    """Give a quota, or change its ceiling."""
    return await ask(request, "set_quota", dataset=dataset, **body.model_dump())


@router.delete("/datasets/{dataset}/quotas/{kind}/{name}")
async def delete_quota(
    request: Request, dataset: str, kind: Literal["user", "project"], name: str
) -> dict[str, Any]:
    """Take a quota away, with its reservations; what it paid stays charged."""
    return await ask(request, "delete_quota", dataset=dataset, kind=kind, name=name)


@router.get("/datasets/{dataset}/ledger")
async def ledger(
    request: Request, dataset: str, after: After = 0, limit: Limit = 100
) -> dict[str, Any]:
    """Charges in order, for a burn-down."""
    return await ask(request, "ledger", dataset=dataset, after=after, limit=limit)


@router.post("/datasets/{dataset}/ledger/verify")
async def verify(request: Request, dataset: str) -> dict[str, Any]:
    """Recompute every hash and sum."""
    return await ask(request, "verify", dataset=dataset)


@router.get("/users")
async def users(request: Request) -> dict[str, Any]:
    """Users."""
    return {"users": await ask(request, "members", kind="user")}


@router.post("/users", status_code=201)
async def add_user(request: Request, body: MemberBody) -> dict[str, Any]:
    """Let a user in; without a quota nothing can be asked yet."""
    return await ask(request, "add_member", kind="user", name=body.name, facts={"note": body.note})


@router.delete("/users/{user}")
async def delete_user(request: Request, user: str) -> dict[str, Any]:
    """Forget a user: keys, quotas, jobs, replies, and which rows were paid for."""
    return await ask(request, "delete_member", kind="user", name=user)


@router.delete("/projects/{project}")
async def delete_project(request: Request, project: str) -> dict[str, Any]:
    """Forget a project and its quotas; keys that name it pay for nothing any more."""
    return await ask(request, "delete_member", kind="project", name=project)


@router.get("/projects")
async def projects(request: Request) -> dict[str, Any]:
    """Projects."""
    return {"projects": await ask(request, "members", kind="project")}


@router.post("/projects", status_code=201)
async def add_project(request: Request, body: MemberBody) -> dict[str, Any]:
    """Add a project, whose users share its quota."""
    return await ask(
        request, "add_member", kind="project", name=body.name, facts={"note": body.note}
    )


@router.get("/keys")
async def keys(request: Request) -> dict[str, Any]:
    """Names, scopes and times of keys; never a key."""
    return {"keys": await ask(request, "keys")}


@router.post("/keys", status_code=201)
async def issue_key(request: Request, body: KeyBody) -> dict[str, Any]:
    """Issue a key: it is shown this once."""
    return await ask(request, "issue_key", **body.model_dump())


@router.post("/keys/{key}/rotate", status_code=201)
async def rotate_key(request: Request, key: str, body: RotateBody) -> dict[str, Any]:
    """Issue another key in the place of one."""
    return await ask(request, "rotate_key", key=key, **body.model_dump())


@router.delete("/keys/{key}")
async def revoke_key(request: Request, key: str) -> dict[str, Any]:
    """End a key."""
    return await ask(request, "revoke_key", key=key)


@router.get("/models")
async def all_models(request: Request) -> dict[str, Any]:
    """Models, published or not."""
    return {"models": await ask(request, "all_models")}


@router.post("/models", status_code=202)
async def fit(request: Request, body: FitBody) -> dict[str, Any]:
    """Begin to fit the candidates of a model."""
    if (body.query_budget is None) == (body.max_answers is None):
        raise Problem("invalid", "Give either query_budget or max_answers.")
    return await ask(request, "fit", recipe=body.model_dump(exclude_none=True))


@router.post("/models/{model}/publish")
async def publish(request: Request, model: str, overcommit: bool = False) -> dict[str, Any]:
    """Let callers ask a model, whose budget covers their quotas unless ``overcommit`` is given."""
    return await ask(request, "publish", model=model, overcommit=overcommit)


@router.post("/models/{model}/withdraw")
async def withdraw(request: Request, model: str) -> dict[str, Any]:
    """Let nobody ask a model any more; what was charged stays charged."""
    return await ask(request, "withdraw", model=model)


@router.delete("/models/{model}")
async def delete_model(request: Request, model: str) -> dict[str, Any]:
    """Forget a model that is not published, its secret and its answers; nothing comes back."""
    return await ask(request, "delete_model", model=model)


@router.get("/models/{model}/guarantee")
async def guarantee(request: Request, model: str) -> dict[str, Any]:
    """What is promised about everything that was answered so far."""
    return await ask(request, "guarantee", model=model)


@router.get("/jobs/{job}")
async def job(request: Request, job: str) -> dict[str, Any]:
    """How far a fit is."""
    return await ask(request, "job", job=job)


@router.get("/audit")
async def audit(request: Request, after: After = 0, limit: Limit = 100) -> dict[str, Any]:
    """Who changed what."""
    return {"lines": await ask(request, "audit", after=after, limit=limit)}


metrics = APIRouter(tags=["curator plane"])


@metrics.get("/metrics", response_class=PlainTextResponse)
async def all_metrics(request: Request) -> Response:
    """Counters for Prometheus."""
    text = await ask(request, "metrics")
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")
