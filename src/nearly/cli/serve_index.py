"""`nearly serve --api`: an index, served to programs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from nearly.cli import interrupt
from nearly.errors import EngineError, SettingsError

__all__ = ["check_token", "serve_index"]

#: Seconds after which Python looks whether another thread wants to run: questions are short.
SWITCH = 0.0005


def serve_index(
    given: tuple[Path, ...],
    host: str | None,
    port: int,
    names: tuple[str, ...],
    token: str | None,
    read_token: str | None,
) -> None:
    """Answer until the process is told to stop."""
    try:
        from nearly.service.app import make_app
        from nearly.service.desk import Desk
        from nearly.service.guard import Keys
        from nearly.service.scribe import Scribe
        from nearly.web.guard import LOCAL_NAMES
        from nearly.web.server import LOOPBACK, bound, serve
    except ImportError as error:
        raise EngineError(
            f"nearly serve --api needs {error.name}, which is not installed; "
            "install it: pip install 'nearly[service]'"
        ) from error
    from nearly.index.index import Index

    if len(given) != 1:
        raise SettingsError(f"{len(given)} folders were given; give one index to serve")
    for each in (token, read_token):
        check_token(host, each, needed=token is None)
    with (
        Index.open(given[0], read_only=True) as index,
        Scribe(given[0]) as scribe,
        bound(host or LOOPBACK, port) as listening,
    ):
        desk = Desk(index, given[0], store=scribe.store)
        keys = Keys(
            port=listening.getsockname()[1],
            names=(*LOCAL_NAMES, *filter(None, (host,)), *names),
            token=token,
            read_token=read_token,
        )
        sys.setswitchinterval(SWITCH)
        stopping = desk.limits.stopping_seconds
        interrupt.allow(2 * stopping)
        serve(
            make_app(desk, keys),
            listening,
            lambda: click.echo(f"http://{_shown(host)}:{keys.port}"),
            most_at_once=None,  # the app says so itself, as JSON
            stopping_seconds=stopping,
        )


def check_token(host: str | None, token: str | None, *, needed: bool = True) -> None:
    """Who lets other machines connect has to give one, and not a short one."""
    from nearly.web.server import LEAST_TOKEN

    if host is not None and token is None and needed:
        raise SettingsError(
            f"host is {host!r}, which lets other machines connect; give a token too, with --token "
            "or NEARLY_TOKEN"
        )
    if token is not None and (len(token) < LEAST_TOKEN or not token.isascii()):
        raise SettingsError(
            f"the token has {len(token)} characters; give {LEAST_TOKEN} at least, ASCII only"
        )


def _shown(host: str | None) -> str:
    is_any = host in (None, "0.0.0.0", "::")  # noqa: S104
    return "127.0.0.1" if is_any or host is None else f"[{host}]" if ":" in host else host
