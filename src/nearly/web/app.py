"""The app: routes to handlers, handlers to answers, errors to pages; all of it behind the guard."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from nearly.errors import MissingError, NearlyError
from nearly.markup import tag
from nearly.web.answer import Answer, Moved, Sent, Shown
from nearly.web.asked import Asked
from nearly.web.desk import Desk
from nearly.web.frame import framed
from nearly.web.guard import Access, Guard
from nearly.web.route import ROUTES
from nearly.web.spot import Handler, Spot

__all__ = ["make_app"]

#: Static files by name: no other can be asked for.
STATIC: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def make_app(desk: Desk, access: Access) -> ASGIApp:
    """All of it; there is no way in but through the guard."""
    routes = [
        Route(spot.path, _endpoint(spot, desk), methods=[spot.method], name=spot.name)
        for spot in ROUTES
    ]
    routes.append(Route("/static/{name}", _Static(_static_files()), methods=["GET"]))
    handlers: dict[Any, Callable[..., Any]] = {
        HTTPException: _http_error,
        NearlyError: _our_error,
        Exception: _unexpected,
    }
    return Guard(Starlette(routes=routes, exception_handlers=handlers), access)


def _endpoint(spot: Spot, desk: Desk) -> Callable[[Request], Any]:
    async def respond(request: Request) -> Response:
        if spot.method != "POST":
            return await _answered(spot.handler, desk, request, FormData())
        async with request.form(max_files=spot.files, max_fields=100) as form:
            return await _answered(spot.handler, desk, request, form)

    return respond


async def _answered(handler: Handler, desk: Desk, request: Request, form: FormData) -> Response:
    asked = _asked(request, form)
    answer = await run_in_threadpool(handler, desk, asked)
    return _response(answer, request, asked)


def _asked(request: Request, form: FormData) -> Asked:
    given = form.multi_items()
    files = [value for _, value in given if isinstance(value, UploadFile)]
    return Asked(
        path=dict(request.path_params),
        query=dict(request.query_params),
        form={name: value for name, value in given if isinstance(value, str)},
        files=[(file.filename or "", file.file) for file in files if file.filename],
        hidden=_hides_names(request),
    )


def _hides_names(request: Request) -> bool:
    return request.cookies.get("nearly-names") == "hidden"


def _response(answer: Answer, request: Request, asked: Asked) -> Response:
    if isinstance(answer, Moved):
        response = RedirectResponse(answer.to, status_code=303)
        if "hidden" in asked.form:
            chosen = "hidden" if asked.form["hidden"] == "1" else "shown"
            response.set_cookie("nearly-names", chosen, httponly=True, samesite="strict")
        return response
    if isinstance(answer, Sent):
        named = f"attachment; filename*=UTF-8''{quote(answer.name, safe='')}"
        return StreamingResponse(
            answer.chunks, headers={"Content-Disposition": named}, media_type=answer.media_type
        )
    return _shown(answer, request, hidden=asked.hidden)


def _shown(shown: Shown, request: Request, *, hidden: bool) -> Response:
    if _wants_json(request):
        plain = json.dumps(shown.data(), ensure_ascii=True, default=str)
        return Response(plain, shown.status, media_type="application/json")
    page = framed(shown, request.url.path, hidden=hidden)
    return Response(page, shown.status, media_type="text/html")


def _wants_json(request: Request) -> bool:
    accepted = request.headers.get("accept", "")
    first = accepted.partition(",")[0].partition(";")[0].strip()
    return request.query_params.get("format") == "json" or first == "application/json"


def _problem(request: Request, status: int, title: str, message: str) -> Response:
    """One shape for every error, as a page and as JSON."""
    return _shown(
        Shown(
            title=title,
            data=lambda: {"error": title, "message": message},
            body=lambda: tag("p", message, role="alert"),
            status=status,
        ),
        request,
        hidden=_hides_names(request),
    )


async def _http_error(request: Request, error: HTTPException) -> Response:
    if error.status_code == 404:
        return _problem(request, 404, "Not found", "There is no such page.")
    return _problem(request, error.status_code, "This cannot be done", str(error.detail))


async def _our_error(request: Request, error: NearlyError) -> Response:
    if isinstance(error, MissingError):
        return _problem(request, 404, "Not found", str(error))
    return _problem(request, 400, "This cannot be done", str(error))


async def _unexpected(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Nothing of the inside is told; the trace is in the terminal."""
    return _problem(
        request, 500, "Something broke", "Nobody expected this; the terminal has the trace."
    )


def _static_files() -> dict[str, tuple[bytes, str]]:
    found = {"report.css": files("nearly.report") / "style.css"}
    found |= {file.name: file for file in (files("nearly.web") / "static").iterdir()}
    kinds = {name: STATIC.get("." + name.rpartition(".")[2]) for name in found}
    return {name: (found[name].read_bytes(), kind) for name, kind in kinds.items() if kind}


@dataclass(frozen=True)
class _Static:
    known: dict[str, tuple[bytes, str]]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        name = scope["path_params"]["name"]
        if name not in self.known:
            raise HTTPException(404)
        content, kind = self.known[name]
        await Response(content, media_type=kind)(scope, receive, send)
