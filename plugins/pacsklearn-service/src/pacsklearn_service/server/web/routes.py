"""Routes whose facts go to the coordinator as they are, and whose reply comes back."""

from __future__ import annotations

import re
from functools import partial
from inspect import Parameter, Signature
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel

from pacsklearn_service.server.web.app import ask

After = Annotated[int, Query(ge=0, le=2**53)]
Limit = Annotated[int, Query(ge=1, le=1000)]
MOST_NATS: Final = 1e300  # sums of as many as there are users are doubles too

_KINDS: Final[dict[str, Any]] = {"kind": Literal["user", "project"]}
"""Of what stands in addresses, where it is not any text."""


def forward(
    router: APIRouter,
    method: str,
    path: str,
    what: str,
    about: str,
    *,
    body: type[BaseModel] | None = None,
    query: dict[str, tuple[Any, Any]] | None = None,
    status: int = 200,
    named: str = "",
    media: str = "",
    **fixed: Any,
) -> None:
    """Add a route.

    Parameters
    ----------
    router : APIRouter
    method, path : str
        Parts of the path in braces are facts.
    what : str
        Operation of the coordinator.
    about : str
        For the OpenAPI document.
    body : type of BaseModel, optional
        Whose fields are facts.
    query : dict, optional
        Type and default of each fact in the address.
    status : int, default=200
    named : str, optional
        Name that the reply has within the document; the reply is all of it unless given.
    media : str, optional
        Type of a reply that is a text.
    **fixed : object
        Further facts.
    """

    async def reply(request: Request, **facts: Any) -> Any:
        said = facts.pop("body", None)
        stated = {} if said is None else said.model_dump()
        told = await ask(request, what, **fixed | facts | stated)
        if media:
            return PlainTextResponse(told, media_type=media)
        return {named: told} if named else told

    parameter = partial(Parameter, kind=Parameter.KEYWORD_ONLY)
    parameters = [parameter("request", annotation=Request)]
    parts = re.findall(r"{(\w+)}", path)
    parameters += [parameter(each, annotation=_KINDS.get(each, str)) for each in parts]
    for each, (kind, default) in (query or {}).items():
        parameters += [parameter(each, annotation=kind, default=default)]
    if body is not None:
        parameters.append(parameter("body", annotation=body))
    reply.__signature__ = Signature(parameters)  # type: ignore[attr-defined] # what FastAPI reads
    router.add_api_route(
        path,
        reply,
        methods=[method],
        status_code=status,
        name=what,
        description=about,
        response_class=PlainTextResponse if media else JSONResponse,
    )
