"""What a run has to say: a summary and the skipped records for people, JSON for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nearly.cli import exit_code
from nearly.cli.message import say
from nearly.wording import count

if TYPE_CHECKING:
    import pyarrow as pa

    from nearly.cli.engine import CommandEngine
    from nearly.results import Deduplicated, Found, Statistics
    from nearly.settings import Settings
    from nearly.sinks import Outputs
    from nearly.stages.audit import Audit

__all__ = [
    "announce_terminal",
    "check_folder",
    "check_outputs",
    "dropped_lines",
    "ending",
    "print_json",
    "say_skipped",
    "say_summary",
    "write_tables",
]

#: How many skipped records are named one by one.
MOST_NAMED = 10

#: A bucket is announced that holds at least this many documents, and this share of all.
FEWEST_IN_CROWD, SHARE_IN_CROWD = 100, 0.05


def announce_terminal(source: tuple[str, ...]) -> None:
    """Whoever waits for nearly, while nearly waits for them, should know."""
    if "-" in source and sys.stdin is not None and sys.stdin.isatty():
        say("Reading documents from this terminal: JSON or CSV, and Ctrl-D at the end.")


def say_summary(result: Found | Deduplicated, outcome: str) -> None:
    """What was read, what came of it, and how it was done."""
    statistics = result.statistics
    if not statistics.documents + statistics.skipped:
        say("no documents")
        return
    dropped = dropped_lines(statistics.ignored, statistics.common, result.settings)
    read = (_read(statistics), *_ids(statistics), *dropped)
    for line in (*read, *outcome.splitlines(), _method(result), *_crowd(result)):
        say(line)
    decided = statistics.source or {}
    for line in (*_decided(decided), *(f"old ones: {told}" for told in _decided(_old(decided)))):
        say(line)
    if statistics.audit is not None:
        say(_proof(statistics.audit))


def _read(statistics: Statistics) -> str:
    line = count(statistics.documents, "document")
    if statistics.against is not None:
        line += f" against {count(statistics.against, 'old one')}"
    for name in ("skipped", "empty"):
        number = getattr(statistics, name)
        if number:
            line += f", {number:,} {name}"
    if statistics.copies:
        line += f", {count(statistics.copies, 'exact copy', 'exact copies')}"
    return line


def _ids(statistics: Statistics) -> Iterator[str]:
    if statistics.repeated_ids:
        repeat = "id repeats" if statistics.repeated_ids == 1 else "ids repeat"
        documents = count(statistics.sharing_ids or 0, "document")
        yield (
            f"{statistics.repeated_ids:,} {repeat}, over {documents}; "
            "tables have the file and row of each document"
        )


def dropped_lines(ignored: int | None, common: int | None, settings: Settings) -> Iterator[str]:
    """What counted for nothing, and the documents of which nothing was left."""
    if common is not None:
        shingles = count(common, "shingle that occurs", "shingles that occur")
        share = f"{100 * (settings.share or 0):.10g}%"
        were = "was" if common == 1 else "were"
        yield f"{shingles} in more than {share} of the documents {were} dropped"
    if ignored:
        dropped = ["ignored text"] * bool(settings.text.ignore) + ["common shingles"] * bool(common)
        documents = count(ignored, "document is", "documents are")
        yield f"{documents} made of {' and '.join(dropped)} only: nothing is left to compare"


def _old(source: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was decided about the old documents, if there were any."""
    old: Mapping[str, Any] = source.get("against", {})
    return old


def _decided(source: Mapping[str, Any]) -> Iterator[str]:
    """What nobody said about the source, and was decided."""
    guessed = source.get("guessed", [])
    if guessed:
        named = {"text": ", ".join(source.get("text", [])), "id": source["id"]}
        columns = ", ".join(f"{named[kind]} ({kind})" for kind in reversed(guessed))
        options = " and ".join(f"--{kind}" for kind in reversed(guessed))
        yield f"guessed columns: {columns}; {options} would name others"
    if source.get("likely_id"):
        likely = source["likely_id"]
        yield f"ids are row numbers; {likely} looks like an id: --id {likely!r} takes it"
    yield from source.get("notes", [])
    encodings = source.get("encodings", {})
    for name, encoding in list(encodings.items())[:MOST_NAMED]:
        yield f"read {name} as {encoding}"
    if len(encodings) > MOST_NAMED:
        yield f"read {len(encodings) - MOST_NAMED:,} more files in encodings that are not UTF-8"


def _method(result: Found | Deduplicated) -> str:
    """The promise that was kept, and what it took."""
    settings, statistics = result.settings, result.statistics
    seconds = sum(statistics.seconds.values())
    reach = f"from {settings.threshold:g} upwards"
    if settings.within is not None:
        reach = f"within {settings.within:g}"
    promise = _promise(statistics)
    return f"{statistics.compared}; {promise} {reach}; {seconds:.2f} s"


def _crowd(result: Found | Deduplicated) -> Iterator[str]:
    """A bucket that holds a good part of all documents: few of its pairs are near."""
    settings, statistics = result.settings, result.statistics
    left_out = statistics.empty + (statistics.ignored or 0) + statistics.copies
    compared = statistics.documents + (statistics.against or 0) - left_out
    held = statistics.largest_bucket or 0
    can_drop = not (settings.bag or settings.weights or _has_items(statistics))
    advice = ": template text? See --common" if can_drop else ""
    if held >= max(FEWEST_IN_CROWD, SHARE_IN_CROWD * compared):
        yield (
            f"one bucket holds {held:,} of {count(compared, 'different document')} "
            f"({held / compared:.0%}){advice}"
        )


def _has_items(statistics: Statistics) -> bool:
    return "items" in (statistics.source or {})


def _proof(audit: Audit) -> str:
    """What the audit showed."""
    return (
        f"audit: {count(audit.documents, 'document')} searched exactly, "
        f"{audit.found:,} of their {count(audit.pairs, 'pair')} found: recall "
        f"{audit.recall:.1%} ({audit.low:.1%} to {audit.high:.1%}, 95% confidence), "
        f"precision {audit.precision:.1%}"
    )


def _promise(statistics: Statistics) -> str:
    if statistics.method == "exact":
        return f"joined exactly ({statistics.why}): all pairs"
    found = f"{statistics.bands} bands of {statistics.rows} rows"
    if statistics.drawn is not None:
        found = f"{statistics.drawn} members drawn from each document"
    promise = f"{found} find at least {_percent(statistics.promised or 0)} of pairs"
    if statistics.hubs is not None:
        promise += f" (in a large bucket, of those with its first {statistics.hubs} documents)"
    return promise


def _percent(share: float) -> str:
    """Rounded down: a promise is not made larger than it is."""
    return f"{int(share * 1000) / 10:g}%"


def say_skipped(records: pa.Table, total: int, listed_in: object | None) -> None:
    """The first skipped records with their reasons; said even when nothing else is."""
    from nearly.sources.formats.soundness import NOT_UTF_8

    for skipped in records.slice(0, MOST_NAMED).to_pylist():
        say(f"skipped {skipped['record']}: {skipped['reason']}")
    if NOT_UTF_8 in records["reason"].to_pylist():
        say("--encoding auto finds out the encoding of CSV, TSV, JSON and text files")
    more = total - min(total, MOST_NAMED)
    if more:
        where = f"all are in {listed_in}" if listed_in else "--skipped FILE lists them all"
        say(f"skipped {more:,} more; {where}")


def ending(skipped: int, *, fail: bool = False) -> int:
    """The exit code of a run that finished."""
    if skipped:
        return exit_code.INCOMPLETE
    return exit_code.FOUND if fail else exit_code.CLEAN


def check_outputs(
    *places: Path | str | None,
    force: bool,
    engine: CommandEngine,
    inputs: Iterable[object] = (),
) -> None:
    """Refuse outputs that are bound to fail, or to replace what is read, before the long work."""
    from nearly.sinks import check_different, check_not_read

    check_different(*places)
    check_not_read(*places, inputs=inputs)
    for place in places:
        if place is not None:
            engine.check(place, force=force)


def check_folder(folder: Path | None, *, force: bool) -> None:
    """Refuse a folder that a result cannot be saved in, before the long work starts."""
    if folder is not None:
        from nearly.result_folder import check_target

        check_target(folder, force=force)


def write_tables(
    outputs: Outputs, *tables: tuple[Any, Path | str | None], engine: CommandEngine
) -> None:
    """Those tables for which a place was named."""
    for table, place in tables:
        if place is not None:
            engine.write(outputs, table, place)


def print_json(members: Mapping[str, Any]) -> None:
    """One JSON object on stdout; tables become lists of objects, written row by row.

    All but ASCII is escaped, so that no terminal and no encoding can spoil it.
    """
    import json  # seldom needed

    separator = "{"
    for name, value in members.items():
        click.echo(f'{separator}"{name}": ', nl=False)
        if hasattr(value, "toArrow"):  # a table of Spark
            _print_rows(value.toArrow())
        elif hasattr(value, "to_batches"):
            _print_rows(value)
        else:
            click.echo(json.dumps(value), nl=False)
        separator = ",\n"
    click.echo("}")


def _print_rows(table: Any) -> None:
    import json

    separator = "["
    for batch in table.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            sys.stdout.write(f"{separator}\n{json.dumps(row)}")
            separator = ","
    click.echo("]" if separator == "," else "[]", nl=False)
