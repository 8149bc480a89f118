"""Who may ask: names of the server, tokens, what they allow, and how much may come."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass

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
        self._hosts = frozenset(each.encode() for each in hosts_of(keys.port, keys.names))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Called by the server."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing else is spoken here
        problem = self._problem(scope["headers"])
        if problem is not None:
            await refusal(problem.status, str(problem))(scope, receive, send)
            return
        await self._app(scope, limited(receive, self._largest), send)

    def _problem(self, headers: Sequence[tuple[bytes, bytes]]) -> ProblemError | None:
        """By all headers: one that is sent twice is looked at twice."""
        hosts = [value.lower() for name, value in headers if name == b"host"]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return ProblemError(
                421, "this server has another name; start it with --name to add one"
            )
        for name, value in headers:
            # Programs send no Origin; a page in a browser does, and no page is meant to ask here.
            if name == b"origin":
                return ProblemError(403, "pages in a browser are not served")
            if name == b"content-length" and not self._fits(value):
                return ProblemError(
                    413, f"the body is too large; the most is {self._largest:,} bytes"
                )
        return None

    def _fits(self, length: bytes) -> bool:
        return length.isdigit() and len(length) < 20 and int(length) <= self._largest


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
