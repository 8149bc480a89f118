"""The app: requests to handlers, answers and errors to JSON; behind the guard."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from nearly.errors import NearlyError
from nearly.service.desk import Desk
from nearly.service.guard import Guard, Keys, check_scope
from nearly.service.handler import Asked
from nearly.service.message import Accepted
from nearly.service.openapi import described
from nearly.service.problem import ProblemError, problem_of, refusal
from nearly.service.route import ROUTES, Spot

__all__ = ["make_app"]

JSON: Final = (b"content-type", b"application/json")
#: What is asked most.
QUERY: Final = "/v1/query"
UNEXPECTED: Final = "nobody expected this; the terminal of the service has the trace"


def make_app(desk: Desk, keys: Keys) -> ASGIApp:
    """All of it; there is no way in but through the guard."""
    page = msgspec.json.encode(described(version("nearly")))

    async def openapi(request: Request) -> Response:  # noqa: ARG001
        return Response(page, media_type="application/json")

    at_once = _AtOnce(desk.limits.at_once)
    routes = [
        Route(spot.path.replace("{id}", "{id:path}"), _Endpoint(spot, desk, keys, at_once))
        for spot in ROUTES
    ]
    for route, spot in zip(routes, ROUTES, strict=True):
        route.methods = {spot.method}
    routes.append(Route("/openapi.json", openapi, methods=["GET"]))
    handlers: dict[Any, Callable[..., Any]] = {HTTPException: _http_error, Exception: _unexpected}
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=_lifespan(desk))
    app.router.redirect_slashes = False
    query = next(route for route in routes if route.path == QUERY)
    return Guard(_straight(app, query.app), keys, desk.limits.body)


def _straight(app: Starlette, query: ASGIApp) -> ASGIApp:
    """Questions go straight to what answers them: to look for a route would take a while."""

    async def dispatched(scope: Scope, receive: Receive, send: Send) -> None:
        is_question = scope["type"] == "http" and scope["path"] == QUERY
        if not is_question or scope["method"] != "POST":
            await app(scope, receive, send)
            return
        try:
            await query(scope, receive, send)
        except HTTPException as error:
            await refusal(error.status_code, str(error.detail), error.headers)(scope, receive, send)
        except Exception:
            logging.getLogger("uvicorn.error").exception("a question could not be answered")
            await refusal(500, UNEXPECTED)(scope, receive, send)

    return dispatched


def _lifespan(desk: Desk) -> Any:
    @asynccontextmanager
    async def span(app: Any) -> AsyncIterator[None]:  # noqa: ARG001
        desk.writer.start()
        yield
        # What was accepted is stored before the end.
        await asyncio.to_thread(desk.writer.stop)

    return span


class _AtOnce:
    """How many requests are being answered."""

    def __init__(self, most: int) -> None:
        self.most, self.count = most, 0


class _Endpoint:
    """One route: who may ask, what was asked, the answer in time, counted.

    What Starlette has for requests and answers is not used here: for a short question it would
    take longer than the answer.
    """

    def __init__(self, spot: Spot, desk: Desk, keys: Keys, at_once: _AtOnce) -> None:
        self._spot, self._desk, self._keys, self._at_once = spot, desk, keys, at_once
        self._decoder = None if spot.takes is None else msgspec.json.Decoder(spot.takes)
        self._encoder = msgspec.json.Encoder()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Called by the router."""
        start = time.perf_counter()
        self._at_once.count += 1
        try:
            answer = await self._answered(scope, receive)
        except ClientDisconnect:
            return
        finally:
            self._at_once.count -= 1
        is_response = isinstance(answer, Response)
        status = answer.status_code if is_response else 202 if isinstance(answer, Accepted) else 200
        spot = self._spot
        self._desk.meter.answered(spot.method, spot.path, status, time.perf_counter() - start)
        if is_response:
            await answer(scope, receive, send)
            return
        body = self._encoder.encode(answer)
        headers = [JSON, (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answered(self, scope: Scope, receive: Receive) -> Any:
        try:
            async with asyncio.timeout(self._desk.limits.seconds):
                return await self._answer(scope, receive)
        except ProblemError as problem:
            return refusal(problem.status, str(problem), problem.headers)
        except NearlyError as error:
            meant = problem_of(error)
            return refusal(meant.status, str(meant))
        except TimeoutError:
            seconds = self._desk.limits.seconds
            told = f"no answer within {seconds:g} seconds; a change may still be made"
            return refusal(504, told)

    async def _answer(self, scope: Scope, receive: Receive) -> Any:
        headers = dict(reversed(scope["headers"]))  # of those that are sent twice, the first
        given = headers.get(b"authorization")
        allowed = self._keys.scopes(None if given is None else given.decode("latin-1"))
        check_scope(self._spot.scope, allowed)
        if self._spot.scope is not None and self._at_once.count > self._at_once.most:
            raise ProblemError(429, "too many requests at once; ask again later", Retry_After="1")
        return await self._spot.handler(self._desk, await self._asked(scope, headers, receive))

    async def _asked(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> Asked:
        name = scope.get("path_params", {}).get("id", "")
        query = QueryParams(scope["query_string"]) if scope["query_string"] else {}
        if self._decoder is None:
            return Asked(id=name, query=query)
        given = headers.get(b"content-type", b"").decode("latin-1")
        media_type = given.partition(";")[0].strip().lower()
        if media_type != "application/json":
            raise ProblemError(
                415, f"the content type is {media_type[:100]!r}; send application/json"
            )
        data = await _body(receive)
        try:
            body = self._decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ProblemError(400, f"the body is not what is asked for: {error}") from None
        return Asked(id=name, query=query, body=body, size=len(data))


async def _body(receive: Receive) -> bytes:
    """All of it: mostly it comes in one piece."""
    pieces: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        pieces.append(message.get("body", b""))
        if not message.get("more_body", False):
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)


async def _http_error(request: Request, error: HTTPException) -> Response:
    """What the router and the guard say."""
    told = {
        404: f"there is no {request.url.path[:200]}; GET /openapi.json lists what there is",
        405: f"{request.method} is not answered here; GET /openapi.json lists what is",
    }
    message = told.get(error.status_code, str(error.detail))
    return refusal(error.status_code, message, error.headers)


async def _unexpected(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Nothing of the inside is told; the trace is in the terminal."""
    return refusal(500, UNEXPECTED)
