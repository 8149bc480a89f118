"""`nearly query`: what an index holds that is near to a text."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from nearly.cli import exit_code
from nearly.cli import option as shared
from nearly.cli.message import say
from nearly.cli.section import Command, Whole, option
from nearly.cli.terminal import harmless
from nearly.errors import UnreadableError
from nearly.wording import short

__all__ = ["query"]


@click.command(cls=Command)
@click.argument("place", metavar="INDEX", type=shared.Place)
@click.argument("file", type=click.Path(allow_dash=True))
@option(
    "Search",
    "--top",
    type=Whole(min=1),
    metavar="NUMBER",
    help="Show this many of the nearest, however near.",
)
@option(
    "Search",
    "--threshold",
    "-t",
    type=float,
    metavar="NUMBER",
    help="Lowest similarity; that of the index by default.",
)
@option(
    "Search",
    "--within",
    type=float,
    metavar="NUMBER",
    help="Greatest distance, for a measure that is one; that of the index by default.",
)
@shared.json_option
@option("Output", "--fail-on-found", is_flag=True, help="Exit with code 1 if something was found.")
@shared.debug_option
def query(
    place: Path | str,
    file: str,
    top: int | None,
    threshold: float | None,
    within: float | None,
    as_json: bool,
    fail_on_found: bool,
) -> int:
    """Find the documents of an index that are near to a text file, or to standard input (-).

    Similarities are exact; the nearest come first.

    \b
    nearly query seen/ letter.txt
    nearly query seen/ letter.txt --top 5
    cat letter.txt | nearly query seen/ - -t 0.9
    """
    from nearly.index.index import Index

    asked = _read(file)
    with Index.open(place, read_only=True) as held:
        answer = held.query(asked, k=top, threshold=threshold, within=within)
        value_is = held.value
    if as_json:
        found = [{"id": name, value_is: value} for name, value in answer]
        told: dict[str, Any] = {"found": found, "left_out": answer.left_out}
        click.echo(json.dumps(told, ensure_ascii=False, indent=1))
    else:
        for name, value in answer:
            click.echo(harmless(f"{short(value)}  {name}"))
        if not answer:
            say("nothing in the index is near to it")
    if answer.left_out:
        say(f"{answer.left_out:,} members of crowded buckets were not looked at")
    return exit_code.FOUND if fail_on_found and answer else exit_code.CLEAN


def _read(file: str) -> str:
    from nearly.sources.path import check_regular

    if file != "-":
        check_regular(file)
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise click.UsageError(f"{file} cannot be read: {error.strerror}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{file} is not UTF-8; write it as UTF-8 first") from error
