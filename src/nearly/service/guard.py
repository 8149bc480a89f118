"""Who may ask: names of the server, tokens, what they allow, and how much may come."""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from nearly.service.problem import ProblemError, refusal
from nearly.service.route import READ, WRITE
from nearly.web.guard import LOCAL_NAMES, hosts_of, limited

__all__ = ["Guard", "Keys"]


@dataclass(frozen=True, kw_only=True)
class Keys:
    """Under which names the service is reached, and the tokens; without any, all may do all."""

    port: int
    names: tuple[str, ...] = LOCAL_NAMES
    token: str | None = None  # reads and writes
    read_token: str | None = None

    def scopes(self, authorization: str | None) -> frozenset[str]:
        """What who sent this may do; compared in a time that tells nothing."""
        if self.token is None and self.read_token is None:
            return frozenset({READ, WRITE})
        kind, _, given = (authorization or "").partition(" ")
        if kind.lower() != "bearer":
            return frozenset()
        known = {self.token: {READ, WRITE}, self.read_token: {READ}}
        allowed: set[str] = set()
        for token, scopes in known.items():
            if token is not None and hmac.compare_digest(given.encode(), token.encode()):
                allowed |= scopes
        return frozenset(allowed)


class Guard:
    """Stands before the app: what is refused here reaches no route."""

    def __init__(self, app: ASGIApp, keys: Keys, largest: int) -> None:
        self._app, self._keys, self._largest = app, keys, largest
        self._hosts = hosts_of(keys.port, keys.names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Called by the server."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing else is spoken here
        problem = self._problem(Headers(scope=scope))
        if problem is not None:
            await refusal(problem.status, str(problem))(scope, receive, send)
            return
        await self._app(scope, limited(receive, self._largest), send)

    def _problem(self, headers: Headers) -> ProblemError | None:
        if len(headers.getlist("host")) != 1 or headers["host"].lower() not in self._hosts:
            return ProblemError(
                421, "this server has another name; start it with --name to add one"
            )
        # Programs send no Origin; a page in a browser does, and no page is meant to ask here.
        if "origin" in headers:
            return ProblemError(403, "pages in a browser are not served")
        given = headers.get("content-length", "0")
        if not (given.isascii() and given.isdigit() and int(given) <= self._largest):
            return ProblemError(413, f"the body is too large; the most is {self._largest:,} bytes")
        return None


def check_scope(needed: str | None, allowed: frozenset[str]) -> None:
    """Refuse who may not ask this."""
    if needed is None or needed in allowed:
        return
    if not allowed:
        raise ProblemError(
            401, "send a token that is known: Authorization: Bearer …", WWW_Authenticate="Bearer"
        )
    raise ProblemError(
        403, f"the token allows to {', '.join(sorted(allowed))}, and this is to {needed}"
    )
