"""Pages of the console: made on the server, without a script, from the curator's operations."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartParser

from pacsklearn_service.server.caller import Caller
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.web.app import ask, problem_response
from pacsklearn_service.server.web.data_plane import packed_table
from pacsklearn_service.server.web.table_body import CSV


def nats(amount: float) -> str:
    """Return the figure with at least four digits; small ones are not rounded to nothing."""
    return f"{amount:,.0f}" if 10_000 <= abs(amount) < 1_000_000 else f"{amount:,.4g}"


def moment(seconds: float) -> str:
    """Return the time of the clock, in UTC."""
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))


def visible(text: str) -> str:
    """Return the text with what cannot be seen, or turns the direction of reading, spelt out."""
    return "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text)


# In memory whatever their size: rows that are asked about are on no disk.
MultiPartParser.spool_max_size = 2**30
_FOLDER: Final = Path(__file__).parent
_COOKIE: Final = "pacsklearn_console"
_PATH: Final = "/console"
_HOURS: Final = 8
_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
}
_MOST_POINTS: Final = 200
_LINES: Final = 100
_PAGES: Final = Environment(
    loader=FileSystemLoader(_FOLDER / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_PAGES.filters |= {
    "nats": nats,
    "moment": moment,
    "quoted": lambda text: quote(text, safe=""),
    "visible": visible,
}


def _page(name: str, status: int = 200, **facts: Any) -> Response:
    text = _PAGES.get_template(f"{name}.html").render(**facts)
    return HTMLResponse(text, status_code=status, headers=_HEADERS)


def refusal(request: Request, problem: Problem) -> Response:
    """Return the response of a refusal: of the console's addresses a page as well."""
    if not f"{request.url.path}/".startswith(f"{_PATH}/"):
        return problem_response(request, problem)
    if problem.kind == "unauthenticated" and request.method == "GET":
        return RedirectResponse(f"{_PATH}/sign-in", status_code=303)
    return _page("problem", problem.status, who=None, problem=problem)


async def _curator(request: Request) -> Caller:
    """Return who is signed in.

    Raises
    ------
    Problem
        ``unauthenticated`` for nobody.
    """
    shown = request.cookies.get(_COOKIE, "")
    if not shown:
        raise Problem("unauthenticated", "Sign in with a curator's key.")
    return await _with_key(request, shown)


async def _with_key(request: Request, shown: str) -> Caller:
    caller: Caller = await request.app.state.authenticator.caller_of(request, shown)
    caller.need("curate")
    return caller


router = APIRouter(prefix=_PATH, include_in_schema=False)
Curator = Annotated[Caller, Depends(_curator)]


def _check_origin(request: Request) -> None:
    """Refuse a form that another site has sent; browsers say so themselves."""
    # A page cannot set this header, so that a form elsewhere cannot pretend to be ours.
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Problem("forbidden", "This form was sent by another site.")


async def _form(request: Request) -> dict[str, bytes]:
    """Return the fields of a form of ours."""
    _check_origin(request)
    await request.body()  # kept, where another coordinator has to read it
    async with request.form(max_files=1, max_fields=2) as form:
        return {
            name: await each.read() if isinstance(each, UploadFile) else each.encode()
            for name, each in form.items()
        }


@router.get("/style.css")
async def style() -> Response:
    """Return the only thing that a page loads."""
    return Response((_FOLDER / "style.css").read_text(encoding="utf-8"), media_type="text/css")


@router.get("/sign-in")
async def sign_in_page() -> Response:
    """Return a form for a key."""
    return _page("sign_in", who=None, wrong="")


@router.post("/sign-in")
async def begin(request: Request) -> Response:
    """Take a key and give a shorter one in a cookie that no script and no other site has.

    The curator's own key stays out of the browser's store; the shorter one ends by itself, stands
    in the list of keys and in the audit log, and can be revoked there as any other.
    """
    fields, settings = await _form(request), request.app.state.settings
    own = {"project": None, "scopes": ["curate"], "days": _HOURS / 24}
    try:
        key = fields.get("key", b"").decode("utf-8", "replace").strip()
        caller = await _with_key(request, key)
        issued = await ask(request, "issue_key", user=caller.user, **own)
    except Problem as problem:
        return _page("sign_in", problem.status, who=None, wrong=problem.detail)
    # A proxy that is trusted ends TLS, unless it says what else it does.
    forwarded = request.headers.get("x-forwarded-proto", "https") if settings.trust_proxy else None
    response = RedirectResponse(_PATH, status_code=303)
    response.set_cookie(
        _COOKIE,
        issued["key"],
        max_age=_HOURS * 3600,
        path=_PATH,
        secure=(forwarded or request.url.scheme) == "https",
        httponly=True,
        samesite="strict",
    )
    return response


@router.post("/sign-out", dependencies=[Depends(_check_origin)])
async def end(request: Request, caller: Curator) -> Response:
    """Sign out: revoke the key of the cookie, and delete it."""
    await ask(request, "revoke_key", key=caller.key)
    response = RedirectResponse(f"{_PATH}/sign-in", status_code=303)
    response.delete_cookie(_COOKIE, path=_PATH, httponly=True, samesite="strict")
    return response


@router.get("")
async def home(request: Request, caller: Curator) -> Response:
    """Return the data sets, and what is left of each."""
    datasets = await ask(request, "datasets")
    models = await ask(request, "listed_models")
    return _page("home", who=caller.user, datasets=datasets, models=models)


@router.get("/datasets/{dataset}")
async def dataset_page(request: Request, caller: Curator, dataset: str) -> Response:
    """Return the ceiling, burn-down, and what each user spent."""
    facts = await ask(request, "dataset", dataset=dataset)
    burnt = await ask(request, "burn_down", dataset=dataset, most=_MOST_POINTS)
    return _page(
        "dataset",
        who=caller.user,
        dataset=facts,
        quotas=await ask(request, "quotas", dataset=dataset),
        models=await ask(request, "listed_models", dataset=dataset),
        burnt=burnt,
    )


@router.get("/models/{model}")
@router.post("/models/{model}")
async def model_page(request: Request, caller: Curator, model: str) -> Response:
    """Return what a model is, costs and promises."""
    from pacsklearn_service.server.model_card import model_card  # loads what others do not need

    (facts,) = await ask(request, "all_models", model=model)
    quoted = await _price(request, facts) if request.method == "POST" else None
    users = await ask(request, "members", kind="user")
    card = model_card(facts)
    return _page("model", who=caller.user, model=facts, users=users, card=card, price=quoted)


async def _price(request: Request, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the most that the rows of a CSV file can cost a user.

    Nothing is asked and nothing paid.
    """
    fields = await _form(request)
    user = fields.get("user", b"").decode("utf-8", "replace")
    content = await packed_table(request, facts, fields.get("rows", b""), CSV)
    quoted = await ask(request, "price", content=content, model=facts["name"], user=user)
    quotas = await ask(request, "quotas", dataset=facts["dataset"])
    own = [each for each in quotas if (each["kind"], each["name"]) == ("user", user)]
    return quoted | {"user": user, "remaining": own[0]["remaining"] if own else None}


@router.get("/keys")
async def keys(request: Request, caller: Curator) -> Response:
    """Return the names, scopes and times of keys; never a key."""
    return _page("keys", who=caller.user, keys=await ask(request, "keys"))


@router.get("/audit")
async def audit(
    request: Request, caller: Curator, after: Annotated[int, Query(ge=0, le=2**53)] = 0
) -> Response:  # fmt: skip
    """Show who changed what."""
    lines = await ask(request, "audit", after=after, limit=_LINES)
    return _page("audit", who=caller.user, lines=lines, after=after, is_full=len(lines) == _LINES)
