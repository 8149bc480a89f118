"""The server: a socket that is bound first, an address with a token, and an end that is clean."""

from __future__ import annotations

import math
import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from nearly.errors import SettingsError

__all__ = ["LEAST_TOKEN", "LOOPBACK", "bound", "serve"]

LOOPBACK = "127.0.0.1"
#: Characters of a token that somebody chose.
LEAST_TOKEN = 16
#: Requests that are answered at once; more are turned away.
MOST_AT_ONCE = 64


def bound(host: str, port: int) -> socket.socket:
    """A socket on this host; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By its name: asyncio sends small answers at once only where it knows that this is TCP.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except (OSError, OverflowError) as error:
        made.close()
        why = getattr(error, "strerror", None) or str(error)
        raise SettingsError(
            f"host is {host!r} and port is {port}, and no server can listen there: {why}; "
            "give another port with --port"
        ) from error
    return made


def serve(
    app: ASGIApp,
    listening: socket.socket,
    ready: Callable[[], None],
    *,
    most_at_once: int | None = MOST_AT_ONCE,
    stopping_seconds: float = 1,
) -> None:
    """Answer until the process is told to stop; `ready` is called when requests are taken.

    Requests that are under way then have some seconds to end.
    """
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # addresses hold tokens and what people look for
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws="none",
        limit_concurrency=most_at_once,
        timeout_graceful_shutdown=math.ceil(stopping_seconds),
    )
    _Server(config, ready).run(sockets=[listening])


class _Server(uvicorn.Server):
    """A server that says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Called by uvicorn."""
        await super().startup(sockets)
        if self.started:
            self._ready()
