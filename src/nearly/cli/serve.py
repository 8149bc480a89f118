"""`nearly serve`: a local web app to find, and to look at what was found."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nearly.cli import exit_code, interrupt
from nearly.cli import option as shared
from nearly.cli.message import say
from nearly.cli.section import Command, Whole, option
from nearly.cli.serve_index import check_token, serve_index
from nearly.errors import EngineError, MissingError, SettingsError, UnreadableError
from nearly.remnant import on_abandon

if TYPE_CHECKING:
    from nearly.web.desk import Desk
    from nearly.web.guard import Access

__all__ = ["serve"]


@click.command(cls=Command)
@click.argument("given", nargs=-1, metavar="[FOUND|SOURCE]...", type=click.Path(path_type=Path))
@shared.source_now_option
@shared.setting("Content", "--threshold", "-t", kind=float)
@shared.group_option
@shared.term_option
@option(
    "Content",
    "--runs",
    metavar="DIR",
    type=shared.File,
    default="nearly-runs",
    show_default=True,
    help="Keep what pages upload and find in this folder.",
)
@option(
    "Server",
    "--port",
    type=Whole(min=0, max=65535),
    default=8017,
    metavar="NUMBER",
    show_default=True,
    help="Listen on this port; 0 takes any that is free.",
)
@option(
    "Server",
    "--host",
    metavar="ADDRESS",
    help="Listen on this address, so that other machines can connect; needs --token.",
)
@option(
    "Server",
    "--name",
    metavar="HOST",
    multiple=True,
    help="A host name under which browsers reach this server; may be repeated.",
)
@option(
    "Server",
    "--token",
    metavar="TEXT",
    envvar="NEARLY_TOKEN",
    help="What the address must hold to be let in, 16 characters at least; random by default. "
    "Rather set NEARLY_TOKEN: commands can be seen by other users.",
)
@option(
    "Service",
    "--api",
    is_flag=True,
    help="Serve an index to programs instead: HTTP and JSON, see docs/service.md.",
)
@option(
    "Service",
    "--read-token",
    metavar="TEXT",
    envvar="NEARLY_READ_TOKEN",
    help="With --api: who has this token may ask, and change nothing.",
)
@shared.quiet_option
@shared.debug_option
def serve(
    given: tuple[Path, ...],
    source: str | None,
    threshold: float,
    group: str | None,
    term: str | None,
    runs: Path,
    port: int,
    host: str | None,
    name: tuple[str, ...],
    token: str | None,
    api: bool,
    read_token: str | None,
    quiet: bool,
) -> int:
    """Find, and look at what was found, in a browser: pairs side by side, clusters, marks.

    FOUND are folders that nearly find wrote with --save; SOURCE is a file or a folder to run.
    Without either, the start page takes files, or a path below this folder. The app runs on this
    machine, uses no network, and is open to nobody but who has the printed address. What it
    prepares, and your marks, are kept beside each result.

    \b
    nearly serve                       # the start page
    nearly serve found                 # a saved result
    nearly serve essays/ -t 0.5        # run and look
    nearly serve seen/ --api           # an index, for programs
    """
    if api:
        serve_index(given, host, port, name, token, read_token)
        return exit_code.CLEAN
    if read_token is not None and "NEARLY_READ_TOKEN" not in os.environ:
        raise SettingsError("--read-token is for an index that is served; give --api too")
    try:
        from nearly.web.app import make_app
        from nearly.web.desk import Desk
        from nearly.web.guard import LOCAL_NAMES, Access
        from nearly.web.runs import Runs
        from nearly.web.server import LOOPBACK, bound
        from nearly.web.server import serve as answer
    except ImportError as error:
        raise EngineError(
            f"nearly serve needs {error.name}, which is not installed; "
            "install it: pip install 'nearly[web]'"
        ) from error
    places, sources = _sorted(given)
    check_token(host, token)
    desk = Desk(
        places=places,
        root=Path.cwd(),
        runs=Runs(runs.absolute()),
        source=source,
        group=group,
        term=term,
    )
    for each in places:
        if not quiet:
            say(f"opening {each}; the first time it is prepared, which takes a while")
        desk.result(each)
    listening = bound(host or LOOPBACK, port)
    names = (*LOCAL_NAMES, *filter(None, (host,)), *name)
    access = Access(
        port=listening.getsockname()[1], token=token or secrets.token_urlsafe(24), names=names
    )
    started = [_run(desk, path, threshold) for path in sources]
    on_abandon(desk.runs.stop)
    interrupt.allow(4)
    try:
        announce = lambda: _announce(access, host, "".join(started))  # noqa: E731
        answer(make_app(desk, access), listening, announce)
    finally:
        desk.runs.stop()
    return exit_code.CLEAN


def _sorted(given: tuple[Path, ...]) -> tuple[dict[str, Path], list[Path]]:
    """Results by the names of their folders, which have to differ; and a source to run."""
    places: dict[str, Path] = {}
    sources = [path for path in given if not (path / "result.json").is_file()]
    for path in given:
        if not path.exists():
            raise MissingError(f"there is no file or folder {str(path)!r}; check the path")
        if not (path.is_file() or path.is_dir()):
            raise UnreadableError(f"{str(path)!r} is no file and no folder; give one of these")
        name = os.path.basename(os.path.abspath(path))
        if name in places:
            raise SettingsError(
                f"{str(places[name])!r} and {str(path)!r} have the same name; rename one of them"
            )
        if path not in sources:
            places[name] = path
    if len(sources) > 1:
        raise SettingsError(
            f"{str(sources[0])!r} and {str(sources[1])!r} are no saved results, and one source "
            "can be run; put all documents into one folder"
        )
    return places, sources


def _run(desk: Desk, path: Path, threshold: float) -> str:
    """Start it; gives where it can be watched."""
    from nearly.settings import Settings
    from nearly.web.frame import at

    Settings(threshold=threshold)
    name, _ = desk.runs.draft(path.absolute().name.partition(".")[0], path, str(path))
    parts = {"group": desk.group, "term": desk.term}
    desk.runs.start(name, {"options": {"threshold": threshold, "difference": "yes"}, **parts})
    return at(name, room="run")


def _announce(access: Access, host: str | None, path: str) -> None:
    """On stdout, so that a program can read it."""
    from urllib.parse import quote

    name = host if host not in (None, "0.0.0.0", "::") else access.names[0]  # noqa: S104
    click.echo(f"http://{name}:{access.port}{path or '/'}?token={quote(access.token, safe='')}")
