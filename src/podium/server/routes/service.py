"""The server itself: alive, ready, what it is, signing in."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, delete, get, post
from litestar.datastructures import Cookie
from litestar.params import JSONBody

from podium.server.access import COOKIE_SECONDS
from podium.server.schema import Code, Info, Ok, SignedIn
from podium.server.service import Served


@get("/healthz", sync_to_thread=False)
def healthz() -> Ok:
    """The process answers."""
    return Ok()


@get("/readyz", sync_to_thread=False)
def readyz(service: Served) -> Ok:
    """The journal can be read, and stands where it stood."""
    service.check_ready()
    return Ok()


@get("/openapi.json", sync_to_thread=False, include_in_schema=False)
def contract(request: Request[Any, Any, Any]) -> dict[str, Any]:
    """What this face takes and gives."""
    return request.app.openapi_schema.to_schema()


@get("/info", sync_to_thread=False)
def info(service: Served) -> Info:
    """Versions, feature strings, limits."""
    return service.info()


@post("/session", status_code=200, sync_to_thread=False)
def sign_in(service: Served, data: JSONBody[Code]) -> Response[SignedIn]:
    """Trade a one-time code for a cookie."""
    value = service.access.trade(data.code)
    cookie = Cookie(
        key=service.access.cookie,
        value=value,
        path="/",
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="strict",
    )
    return Response(SignedIn(service.boot), cookies=[cookie])


@delete("/session", status_code=200, sync_to_thread=False)
def sign_out(service: Served, request: Request[Any, Any, Any]) -> Response[Ok]:
    """Make the browser's cookie worthless."""
    service.access.leave(service.access.cookie_of(dict(request.headers)))
    gone = Cookie(key=service.access.cookie, value="", path="/", max_age=0, httponly=True, samesite="strict")
    return Response(Ok(), cookies=[gone])


@post("/session/code", status_code=200, sync_to_thread=False)
def new_code(service: Served) -> Code:
    """A fresh one-time code, for another browser."""
    return Code(service.access.new_code())


ROUTES = [readyz, contract, info, sign_in, sign_out, new_code]
