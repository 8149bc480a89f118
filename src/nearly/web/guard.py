"""Who may ask, and what an answer may do: checked before a route is looked for.

A browser runs what any page tells it to, so whatever reaches this server may come from a stranger's
page. A name that leads here by a trick of DNS is refused by the list of hosts; a page without the
token knows nothing; and a change has to come from a page of ours.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["LOCAL_NAMES", "POLICY", "UPLOAD", "Access", "Guard", "hosts_of", "limited"]

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: a form of ours would then have no origin.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
    "Vary": "Accept, Cookie",
}
#: Under which names a server on this machine alone is reached.
LOCAL_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
SAFE: Final = frozenset({"GET", "HEAD"})
METHODS: Final = frozenset({"GET", "HEAD", "POST"})
#: Bytes of a body that is no upload.
LARGEST_FORM: Final = 64 * 1024
#: Where larger bodies may go.
UPLOAD: Final = "/upload"


@dataclass(frozen=True, kw_only=True)
class Access:
    """Under which names the server is reached, and by whom."""

    port: int
    token: str
    names: tuple[str, ...] = LOCAL_NAMES
    largest_upload: int = 200 * 10**6
    cookie: str = field(init=False)

    def __post_init__(self) -> None:
        # Cookies of one host are shared by its ports: the name keeps servers apart.
        object.__setattr__(self, "cookie", f"nearly-{self.port}")

    @property
    def hosts(self) -> frozenset[str]:
        """What a Host header may say."""
        return hosts_of(self.port, self.names)

    @property
    def secret(self) -> str:
        """What the cookie holds: whoever reads it does not learn the token."""
        return hmac.new(self.token.encode(), b"nearly cookie", hashlib.sha256).hexdigest()

    def is_token(self, given: str) -> bool:
        """Compared in a time that tells nothing."""
        return hmac.compare_digest(given.encode(), self.token.encode())

    def is_secret(self, given: str) -> bool:
        """The same, of a cookie."""
        return hmac.compare_digest(given.encode(), self.secret.encode())


def hosts_of(port: int, names: Iterable[str]) -> frozenset[str]:
    """What a Host header may say, of a server with these names."""
    bare = names if port == 80 else ()
    return frozenset({*bare, *(f"{name}:{port}" for name in names)})


@dataclass(frozen=True)
class Guard:
    """Wraps the whole app."""

    app: ASGIApp
    access: Access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Called by the server."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        # Nothing else is spoken here, web sockets least of all.

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        careful = _with_headers(send)
        refused = self._refusal(scope, Headers(scope=scope))
        if refused is not None:
            await refused(scope, receive, careful)
            return
        await self.app(scope, limited(receive, self._limit(scope)), careful)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if len(headers.getlist("host")) != 1 or headers["host"].lower() not in self.access.hosts:
            return _refused(421, "this server has another name; open the address it printed")
        if scope["method"] not in METHODS:
            return _refused(405, "only GET, HEAD and POST are answered")
        if "transfer-encoding" not in headers and self._is_too_large(scope, headers):
            return _refused(413, "the body is too large")
        bearer = headers.get("authorization", "")
        if bearer.startswith("Bearer "):
            given = bearer.removeprefix("Bearer ")
            return None if self.access.is_token(given) else _unknown()
        if scope["method"] in SAFE:
            asked = self._admission(scope)
            if asked is not None:
                return asked
        if not self.access.is_secret(_cookie(headers, self.access.cookie)):
            return _unknown()
        return self._stranger(scope["method"], headers)

    def _is_too_large(self, scope: Scope, headers: Headers) -> bool:
        given = headers.get("content-length", "0")
        return not given.isascii() or not given.isdigit() or int(given) > self._limit(scope)

    def _limit(self, scope: Scope) -> int:
        return self.access.largest_upload if scope["path"] == UPLOAD else LARGEST_FORM

    def _admission(self, scope: Scope) -> Response | None:
        """The token of the printed address becomes a cookie, and leaves the address."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if not given:
            return None
        if not self.access.is_token(given[0]):
            return _unknown()
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # Only the path of this request: another one would lead elsewhere.
        path = "/" + scope["raw_path"].decode("latin-1").lstrip("/\\")
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, status_code=303)
        answer.set_cookie(
            self.access.cookie, self.access.secret, httponly=True, samesite="strict", path="/"
        )
        return answer

    def _stranger(self, method: str, headers: Headers) -> Response | None:
        """Who has the cookie may still be sent by another page."""
        site = headers.get("sec-fetch-site")
        if method in SAFE:
            is_page = headers.get("sec-fetch-mode") in (None, "navigate")
            is_ours = site in (None, "same-origin", "none") or is_page
            return None if is_ours else _refused(403, "another page asked for this")
        origin = headers.get("origin")
        known = {f"{scheme}://{host}" for scheme in ("http", "https") for host in self.access.hosts}
        is_ours = site in (None, "same-origin") and (site or origin) is not None
        if not is_ours or (origin is not None and origin.lower() not in known):
            return _refused(403, "a change has to come from a page of this server")
        return None


def limited(receive: Receive, limit: int) -> Receive:
    """Count what really comes: a header may be missing, or lie."""
    seen = 0

    async def counting() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise HTTPException(413, f"The body is too large: the most is {limit:,} bytes.")
        return message

    return counting


def _with_headers(send: Send) -> Send:
    async def careful(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return careful


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _unknown() -> Response:
    return _refused(401, "open the address that nearly serve printed: it has a token")


def _refused(status: int, why: str) -> Response:
    """Plain text: nothing of the request is in it."""
    return PlainTextResponse(f"{HTTPStatus(status).phrase}: {why}.\n", status)
