"""Signing in: a key that lasts a working day, in a cookie that no script and no other site has."""

from __future__ import annotations

from typing import Final

from fastapi import Request, Response

from pacsklearn_service.server.caller import Caller
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.web.app import ask

_COOKIE: Final = "pacsklearn_console"
_HOURS: Final = 8
_PATH: Final = "/console"


async def curator(request: Request) -> Caller:
    """Return who is signed in.

    Raises
    ------
    Problem
        ``unauthenticated`` for nobody.
    """
    shown = request.cookies.get(_COOKIE, "")
    if not shown:
        raise Problem("unauthenticated", "Sign in with a curator's key.")
    caller: Caller = await request.app.state.authenticator.caller_of(request, shown)
    caller.need("curate")
    return caller


def check_origin(request: Request) -> None:
    """Refuse a form that another site has sent; browsers say so themselves."""
    # A page cannot set this header, so that a form elsewhere cannot pretend to be ours.
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Problem("forbidden", "This form was sent by another site.")


async def begin(request: Request, key: str, response: Response) -> None:
    """Take a key and give a shorter one in a cookie.

    The curator's own key stays out of the browser's store; the shorter one ends by itself, stands
    in the list of keys and in the audit log, and can be revoked there as any other.
    """
    state = request.app.state
    caller: Caller = await state.authenticator.caller_of(request, key)
    caller.need("curate")
    issued = await ask(
        request,
        "issue_key",
        user=caller.user,
        project=None,
        scopes=["curate"],
        days=_HOURS / 24,
    )
    forwarded = request.headers.get("x-forwarded-proto") if state.settings.trust_proxy else None
    response.set_cookie(
        _COOKIE,
        issued["key"],
        max_age=_HOURS * 3600,
        path=_PATH,
        secure=(forwarded or request.url.scheme) == "https",
        httponly=True,
        samesite="strict",
    )


async def end(request: Request, response: Response) -> None:
    """Revoke the key of the cookie, and delete it."""
    caller = await curator(request)
    await ask(request, "revoke_key", key=caller.key)
    response.delete_cookie(_COOKIE, path=_PATH, httponly=True, samesite="strict")
