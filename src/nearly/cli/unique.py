"""`nearly unique`: a stream without its copies, in memory that is fixed beforehand."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from nearly.cli import option as shared
from nearly.cli import report
from nearly.cli.message import say
from nearly.cli.section import Command
from nearly.settings import UniqueSettings
from nearly.wording import count

if TYPE_CHECKING:
    from nearly.streams.stream import Unique, UniqueStatistics

__all__ = ["unique"]

setting = shared.setting_of(UniqueSettings)


@click.command(cls=Command)
@click.argument("source", type=click.Path(allow_dash=True))
@setting("Source", "--text", metavar="COLUMN")
@setting("Source", "--each")
@setting("Memory", "--expect", kind=int)
@setting("Memory", "--error", kind=float)
@setting("Memory", "--memory", kind=shared.memory, metavar="SIZE")
@setting("Near-copies", "--near")
@setting("Near-copies", "--threshold", "-t", kind=float)
@setting("Near-copies", "--permutations", kind=int)
@setting("Near-copies", "--bands", kind=int)
@setting("Near-copies", "--rows", kind=int)
@setting("Near-copies", "--seed", kind=int)
@shared.text_options
@shared.quiet_option
@shared.debug_option
def unique(source: str, quiet: bool, **options: Any) -> int:
    """Drop copies from a stream of any length, in memory that is fixed beforehand.

    SOURCE is a file of lines, or - for standard input. What is new goes to standard output at
    once, in its order and byte for byte; lines that cannot be read are kept. Bloom filters
    remember what was seen: every copy is dropped, and a line that is none with the stated chance.

    \b
    nearly unique - < stream.jsonl > once.jsonl
    nearly unique - --text body --near --expect 50000000 < stream.jsonl > once.jsonl
    nearly unique book.txt --each paragraph --memory 100MB > once.txt
    """
    from nearly import api

    arguments = shared.library_arguments(options)
    if source == "-" and sys.stdin is not None and sys.stdin.isatty():
        say("Reading lines from this terminal; Ctrl-D ends them.")
    stream = api.unique(sys.stdin.buffer if source == "-" else source, **arguments)
    out = sys.stdout.buffer
    for kept in stream.batches():
        out.write(b"".join(kept))
        out.flush()
    if not quiet:
        _say_summary(stream.statistics, options["each"])
    _say_unreadable(stream)
    return report.ending(stream.statistics.unreadable)


def _say_summary(told: UniqueStatistics, each: str) -> None:
    copies = count(told.exact_copies, "exact copy", "exact copies")
    near = f" and {count(told.near_copies, 'near-copy', 'near-copies')}" if told.bands else ""
    others = [(told.empty, "empty"), (told.unreadable, "unreadable")]
    rest = "".join(f", {number:,} of them {name}" for number, name in others if number)
    say(f"{count(told.seen, each)}; {copies}{near} dropped; {told.kept:,} kept{rest}")
    say(
        f"{told.memory / 10**6:,.1f} MB for {count(told.expect, f'different {each}')}; the last "
        f"one that is no copy was dropped with a chance of {told.error_now:.2g} "
        f"({told.error:.2g} once {told.expect:,} are in)"
    )
    if told.bands:
        say(
            f"near-copies by {told.bands} bands of {told.rows} rows; they are not verified: "
            f"nearly tune --bands {told.bands} --rows {told.rows} shows the chance by similarity"
        )
    if told.different > told.expect:
        say(
            f"more came than the {told.expect:,} that were expected; give a higher --expect, or "
            f"more --memory, to keep the chance at {told.error:.2g}"
        )


def _say_unreadable(stream: Unique) -> None:
    """Like skipped records, but nothing was skipped."""
    for record in stream.skipped.slice(0, report.MOST_NAMED).to_pylist():
        say(f"kept {record['record']}, which {record['reason']}")
    more = stream.statistics.unreadable - report.MOST_NAMED
    if more > 0:
        say(f"kept {more:,} more that cannot be read")
