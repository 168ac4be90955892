"""What the curator does, on an address and with a scope of its own."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.recipe import NAME, Name, Recipe
from pacsklearn_service.server.signature import Signature
from pacsklearn_service.server.web.app import ask, content_kind, decoded
from pacsklearn_service.server.web.routes import MOST_NATS, After, Limit, forward
from pacsklearn_service.server.web.schemas import TABLE_BODY
from pacsklearn_service.server.web.table_body import any_table

router = APIRouter(prefix="/v1", tags=["curator plane"])

Days = Annotated[float, Field(gt=0, le=3660)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class MemberBody(_Body):
    """A user or a project."""

    name: Annotated[str, Field(max_length=63)]
    note: Annotated[str, Field(max_length=200)] = ""


class QuotaBody(_Body):
    """What a user or a project may spend of a data set, and whether that may exceed its budget."""

    kind: Literal["user", "project"]
    name: Name
    ceiling: Annotated[float, Field(gt=0, le=MOST_NATS)]
    overcommit: bool = False


class KeyBody(_Body):
    """Whose key, what it is good for, and for how long."""

    user: Name
    project: Name | None = None
    scopes: Annotated[list[Literal["ask", "curate"]], Field(min_length=1, max_length=2)]
    days: Days = 90.0


class RotateBody(_Body):
    """How long the new key lasts, and how long the old one goes on."""

    days: Days = 90.0
    grace: Annotated[float, Field(ge=0, le=30 * 86400)] = 86400.0


_get, _post = partial(forward, router, "GET"), partial(forward, router, "POST")
_make = partial(_post, status=201)
_put, _delete = partial(forward, router, "PUT"), partial(forward, router, "DELETE")
_LINES: Final[dict[str, tuple[Any, Any]]] = {"after": (After, 0), "limit": (Limit, 100)}
_DATASET: Final = "/datasets/{dataset}"
_MODEL: Final = "/models/{model}"

_get("/datasets", "datasets", "Data sets, with what was spent and is left.", named="datasets")
_get(_DATASET, "dataset", "Facts of one data set.")
_delete(_DATASET, "delete_dataset", "Forget a table without models; its ledger stays.")
_get(f"{_DATASET}/quotas", "quotas", "What each may spend, and has spent.", named="quotas")
_put(f"{_DATASET}/quotas", "set_quota", "Give a quota, or change its ceiling.", body=QuotaBody)
_delete(_DATASET + "/quotas/{kind}/{name}", "delete_quota", "Forget a quota; its charges stay.")
_get(f"{_DATASET}/ledger", "ledger", "Charges in order, for a burn-down.", query=_LINES)
_post(f"{_DATASET}/ledger/verify", "verify", "Recompute every hash and sum.")

for _kind, _forgotten in (
    ("user", "keys, quotas, jobs, replies, and which rows were paid for"),
    ("project", "its quotas; keys that name it pay for nothing any more"),
):
    _get(f"/{_kind}s", "members", f"Every {_kind}.", named=f"{_kind}s", kind=_kind)
    _make(f"/{_kind}s", "add_member", f"Add a {_kind}.", body=MemberBody, kind=_kind)
    _delete(f"/{_kind}s/{{name}}", "delete_member", f"Forget a {_kind}: {_forgotten}.", kind=_kind)

_get("/keys", "keys", "Names, scopes and times of keys; never a key.", named="keys")
_make("/keys", "issue_key", "Issue a key: it is shown this once.", body=KeyBody)
_make("/keys/{key}/rotate", "rotate_key", "Issue a key in the place of one.", body=RotateBody)
_delete("/keys/{key}", "revoke_key", "End a key.")

_get("/models", "all_models", "Models, published or not.", named="models")
_publish = "Let callers ask a model, whose budget covers their quotas unless overcommit is given."
_post(f"{_MODEL}/publish", "publish", _publish, query={"overcommit": (bool, False)})
_post(f"{_MODEL}/withdraw", "withdraw", "Let nobody ask a model any more.")
_delete(_MODEL, "delete_model", "Forget a model that is not published, its secret and its answers.")
_get(f"{_MODEL}/guarantee", "guarantee", "What is promised about all that was answered so far.")
_get("/jobs/{job}", "job", "How far a fit is.")
_get("/audit", "audit", "Who changed what.", query=_LINES, named="lines")


@router.post("/datasets", status_code=201, openapi_extra=TABLE_BODY)
async def add_dataset(
    request: Request,
    name: Annotated[str, Query(pattern=NAME)],
    target: Annotated[str, Query(max_length=1000)],
    ceiling: Annotated[float, Query(gt=0, le=MOST_NATS)],
) -> dict[str, Any]:
    """Register a table (CSV, Parquet, Arrow or JSON) under a ceiling that is never changed."""
    (await request.app.state.authenticator.caller(request)).need("curate")
    body, settings = await request.body(), request.app.state.settings
    most, most_bytes = settings.most_table_rows, 4 * settings.most_table_bytes
    table = await decoded(
        request, any_table, body, content_kind(request), most=most, most_bytes=most_bytes
    )
    if len(table) < 2:
        raise Problem("invalid", "A data set has a target, and at least one more column.")
    signature = Signature.exact(table)
    return await ask(
        request,
        "add_dataset",
        content=signature.packed(signature.checked(table, most=most)),
        name=name,
        target=target,
        ceiling=ceiling,
        signature=signature.facts(),
    )


@router.post("/models", status_code=202)
async def fit(request: Request, body: Recipe) -> dict[str, Any]:
    """Begin to fit the candidates of a model."""
    return await ask(request, "fit", recipe=body.model_dump(exclude_none=True))


metrics = APIRouter(tags=["curator plane"])
_about = "Counters and latencies for Prometheus."
forward(metrics, "GET", "/metrics", "metrics", _about, media="text/plain; version=0.0.4")
