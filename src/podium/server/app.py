"""The application: routes, errors as problems, and the gate in front of everything."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, get_args

import msgspec
from litestar import Litestar, Request, Response, Router
from litestar.di import Provide
from litestar.exceptions import HTTPException, SerializationException, ValidationException
from litestar.openapi import OpenAPIConfig, ResponseSpec
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, OpenAPIType, Schema, SecurityScheme
from litestar.routes import HTTPRoute
from litestar.serialization import default_serializer
from litestar.types import ASGIApp, Message, Receive, Scope, Send, Serializer

import podium
from podium.contract.errors import BadInput, NotFound, PodiumError
from podium.domain.entities import Entity
from podium.runtime.eventlines import whole
from podium.server.access import Access, Denied
from podium.server.problems import MEDIA_TYPE, Problem, problem_of
from podium.server.routes import agents, checkpoints, events, requests, threads
from podium.server.routes import service as service_routes
from podium.server.service import Service
from podium.server.static import Page, ours

BODY_MAX = 32 * 1024 * 1024
"""Largest request body, in bytes."""

API = "/v1"

WHERE = "GET /v1/openapi.json says what there is."

STATUSES = {
    400: "The input is wrong; nothing was done.",
    401: "Not signed in.",
    403: "Refused: a foreign origin, or a capability that is missing.",
    404: "There is no such thing.",
    409: "Somebody was first, or an id was used for something else.",
    410: "Too late.",
    422: "A value that is not offered.",
    503: "The agent or the storage is not available.",
}
"""The problem documents that every route may answer with."""

FRAMEWORK_CODES = {404: "not_found", 405: "method_unknown", 413: "too_large", 415: "not_json"}

GIVEN = frozenset(
    ("NewThread", "NewMessage", "Interrupt", "ThreadChange", "GivenAnswer", "Code", "PlanWish", "RestoreWish")
)
"""The types of bodies that clients give."""

NO_WEBSOCKET = 1008
"""The close code of a refused WebSocket: against our policy (RFC 6455)."""

LOG = logging.getLogger("podium.server")


class Gate:
    """Refuses what may not pass before any route sees it; what belongs to the page is served here."""

    def __init__(self, app: ASGIApp, access: Access, page: Page, methods: Methods) -> None:
        self._app = app
        self._methods = methods
        self._access = access
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # there is none here, so that nobody can ask for one (B70)
            await send({"type": "websocket.close", "code": NO_WEBSOCKET, "reason": ""})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = joined(scope["headers"])
        path, method = scope["path"], scope["method"]
        page = self._page.has(path)
        try:
            self._access.check(method, path, headers, page=page)
        except Denied as error:
            refusal: PodiumError = error
            if error.code == "not_json" and not page and self._methods.wrong(method, path):
                refusal = BadInput("method_unknown", f"This route does not know {method}.", fix=WHERE)
            await _plain(problem_of(refusal), scope, receive, send)
            return
        if page and method not in ("GET", "HEAD"):
            problem = problem_of(BadInput("method_unknown", f"The page does not know {method}.", fix=WHERE))
            await _plain(problem, scope, receive, send)
            return
        if page:
            await self._page.answer(path, method, scope, receive, send)
            return
        if not ours(path):
            await _plain(
                problem_of(NotFound("not_found", "There is no such file.", fix=WHERE)), scope, receive, send
            )
            return
        await self._app(scope, receive, safely(send))


class Methods:
    """Which methods a path takes, so that what is refused for its form is not told to mend that in vain."""

    def __init__(self, app: Litestar) -> None:
        self._routes = [
            (
                tuple(p if isinstance(p, str) else None for p in route.path_components),
                {str(getattr(m, "value", m)) for m in route.methods},
            )
            for route in app.routes
            if isinstance(route, HTTPRoute)
        ]

    def wrong(self, method: str, path: str) -> bool:
        """Whether there is such a path, and it does not take this method."""
        pieces = path.strip("/").split("/")
        found = [methods for parts, methods in self._routes if _fits(parts, pieces)]
        return bool(found) and not any(method in methods for methods in found)


def _fits(parts: tuple[str | None, ...], pieces: list[str]) -> bool:
    return len(parts) == len(pieces) and all(p in (None, q) for p, q in zip(parts, pieces, strict=True))


def safely(send: Send) -> Send:
    """Add to each answer what every one has."""

    async def added(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message["headers"])
            names = {name.lower() for name, _ in given}
            message["headers"] = [*given, *(h for h in SAFETY if h[0] not in names)]
        await send(message)

    return added


def joined(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by name in lower case; one that came twice holds both, so that neither hides the other."""
    found: dict[str, str] = {}
    for key, value in headers:
        name, said = key.decode("latin-1").lower(), value.decode("latin-1")
        found[name] = f"{found[name]}, {said}" if name in found else said
    return found


async def _plain(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    body = msgspec.json.encode(problem)
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", b"%d" % len(body)), *SAFETY]
    if problem.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


SAFETY = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
"""Headers of everything that is not the page."""


def answer(problem: Problem) -> Response[Problem]:
    """A problem document."""
    return Response(problem, status_code=problem.status, media_type=MEDIA_TYPE)


def known(_: Request[Any, Any, Any], error: PodiumError) -> Response[Problem]:
    """An error raised on purpose."""
    return answer(problem_of(error))


def invalid(_: Request[Any, Any, Any], error: ValidationException) -> Response[Problem]:
    """A body or parameter that is not of its type."""
    said = error.detail
    extra = error.extra
    if isinstance(extra, list) and extra:
        said = "; ".join(_told(e) for e in extra)
    text = f"{said}."
    return answer(problem_of(BadInput("invalid_value", text, fix="Correct it; nothing was done.")))


def _told(found: object) -> str:
    told = msgspec.convert(found, Told, strict=False) if isinstance(found, dict) else Told(message=str(found))
    return f"{told.key}: {told.message}".strip(": ")


class Told(msgspec.Struct, frozen=True):
    """One thing that does not fit, as the framework tells it."""

    key: str = ""
    message: str = ""


def framework(_: Request[Any, Any, Any], error: HTTPException) -> Response[Problem]:
    """What the framework refuses by itself."""
    code = FRAMEWORK_CODES.get(error.status_code, "invalid_value")
    known_error = NotFound if error.status_code == 404 else BadInput
    problem = problem_of(known_error(code, f"{error.detail or error.status_code}.", fix=WHERE))
    return answer(msgspec.structs.replace(problem, status=error.status_code))


def unreadable(_: Request[Any, Any, Any], error: SerializationException) -> Response[Problem]:
    """A body that is no JSON."""
    return answer(problem_of(BadInput("invalid_value", f"The body is no JSON: {error}.", fix="Correct it.")))


def unexpected(_: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    """What nobody expected; the text stays here, the log has it."""
    LOG.exception("a route failed", exc_info=error)
    text = f"An error that Podium did not expect: {type(error).__name__}."
    return answer(problem_of(PodiumError("unexpected", text, fix="Report it with `podium doctor --bundle`.")))


def too_deep(_: Request[Any, Any, Any], error: RecursionError) -> Response[Problem]:
    """JSON within JSON, without end."""
    return answer(problem_of(BadInput("invalid_value", "The body is nested too deeply.", fix="Correct it.")))


class Whole(Response[Any]):
    """An answer with every field, defaults too, as the event stream shows them."""

    def render(self, content: Any, media_type: str, enc_hook: Serializer = default_serializer) -> bytes:
        return super().render(whole(content), media_type, enc_hook)


def create_app(service: Service, page: Page) -> Gate:
    """The whole face of one open data folder, with the gate in front."""
    api = create_api(service)
    return Gate(api, service.access, page, Methods(api))


def create_api(service: Service) -> Litestar:
    """The routes and their contract."""
    problems = {
        status: ResponseSpec(Problem, description=said, media_type=MEDIA_TYPE, generate_examples=False)
        for status, said in STATUSES.items()
    }
    dependencies = {"service": Provide(lambda: service, sync_to_thread=False)}
    modules = (service_routes, threads, requests, agents, checkpoints, events)
    routes = [r for module in modules for r in module.ROUTES]
    for route in routes:
        route.responses = {**problems, **(route.responses or {})}
    api = Router(path=API, route_handlers=routes)
    app = Litestar(
        route_handlers=[service_routes.healthz, api],
        dependencies=dependencies,
        exception_handlers={
            PodiumError: known,
            ValidationException: invalid,
            SerializationException: unreadable,
            HTTPException: framework,
            RecursionError: too_deep,
            Exception: unexpected,
        },
        openapi_config=openapi(),
        response_class=Whole,
        logging_config=None,
        request_max_body_size=BODY_MAX,
        debug=False,
    )
    _require_all(app)
    return app


def _require_all(app: Litestar) -> None:
    """What is answered has every field, and entities say their kind; what is given may leave some out."""
    schemas = app.openapi_schema.components.schemas or {}
    for entity in get_args(Entity):
        config = entity.__struct_config__
        kind = Schema(type=OpenAPIType.STRING, const=config.tag)
        schema = schemas[entity.__name__]
        schema.properties = {config.tag_field: kind, **(schema.properties or {})}
    for name, schema in schemas.items():
        if name not in GIVEN and schema.properties:
            schema.required = sorted(schema.properties)


def openapi() -> OpenAPIConfig:
    """The contract, at /v1/openapi.json."""
    return OpenAPIConfig(
        title="Podium",
        version=podium.__version__,
        description="One contract over every coding agent.",
        path="/contract",  # the framework's own pages, which the gate lets nobody reach
        render_plugins=[JsonRenderPlugin(path="/openapi.json")],
        use_handler_docstrings=True,
        security=[{"token": []}, {"cookie": []}],
        components=Components(
            security_schemes={
                "token": SecurityScheme(type="http", scheme="bearer"),
                "cookie": SecurityScheme(type="apiKey", name="podium", security_scheme_in="cookie"),
            }
        ),
    )
