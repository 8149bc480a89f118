"""`nearly index`: a lasting index, made, added to, looked after."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nearly.cli import exit_code, report
from nearly.cli import option as shared
from nearly.cli.engine import engine_of
from nearly.cli.message import say
from nearly.cli.section import Command, option
from nearly.cli.terminal import harmless
from nearly.wording import count, short

if TYPE_CHECKING:
    import pyarrow as pa

    from nearly.index.answer import Added, Checked
    from nearly.index.index import Index

__all__ = ["index"]

place = click.argument("place", metavar="INDEX", type=shared.Place)


@click.group()
def index() -> None:
    """Keep documents in a folder, to ask whether something was seen before.

    INDEX is a folder, or an address like postgresql://user@host/base?index=seen.

    \b
    nearly index create seen/ corpus.parquet -t 0.8
    nearly index add seen/ new.jsonl
    nearly query seen/ letter.txt --top 5
    """


@index.command(cls=Command)
@place
@shared.optional_source_argument
@shared.source_options
@shared.text_options
@shared.measure_option("Search")
@shared.setting("Search", "--threshold", "-t", kind=float)
@shared.setting("Search", "--within", kind=float)
@shared.setting("Search", "--bag")
@shared.setting("Search", "--recall", kind=float)
@shared.setting("Search", "--bands", kind=int)
@shared.setting("Search", "--rows", kind=int)
@shared.setting("Signature", "--permutations", kind=int)
@shared.setting("Signature", "--scheme")
@option(
    "Signature",
    "--seed",
    type=int,
    metavar="NUMBER",
    help="Seed of the hash functions; drawn for each index if it is not given.",
)
@option(
    "Index",
    "--no-texts",
    is_flag=True,
    help="Keep sets of hashes instead of texts: nobody can read them, and they take more room.",
)
@shared.skipped_option
@shared.cluster_options
@shared.quiet_option
@shared.debug_option
def create(
    place: Path | str,
    source: tuple[str, ...],
    no_texts: bool,
    skipped: Path | None,
    quiet: bool,
    **options: Any,
) -> int:
    """Make an index in a new folder, of documents or empty.

    How documents are compared is fixed from now on. With --engine spark, many machines write it, to
    a folder that all of them see.

    \b
    nearly index create seen/ corpus.parquet -t 0.8
    nearly index create seen/ --unit word --k 3
    nearly index create /shared/seen corpus/ --master spark://host:7077
    """
    from nearly.index.index import Index
    from nearly.sinks import check_output

    if skipped is not None:
        check_output(skipped, force=False)
    arguments = shared.library_arguments(options)
    given = shared.given_source(source) if source else None
    with (
        engine_of(options).at_work(),
        Index.create(place, given, texts=not no_texts, **arguments) as made,
    ):
        if not quiet:
            _say_size(made)
        return _end(made.skipped, made.skipped_count, skipped, force=False)


@index.command(cls=Command)
@place
@shared.source_argument
@shared.source_options
@option("Index", "--replace", is_flag=True, help="Replace documents that have the same id.")
@option(
    "Output",
    "-o",
    "--output",
    metavar="FILE",
    type=shared.File,
    help="Write the new pairs to this file: id, seen, similarity.",
)
@shared.skipped_option
@shared.json_option
@shared.quiet_option
@shared.force_option
@shared.debug_option
def add(
    place: Path | str,
    source: tuple[str, ...],
    replace: bool,
    output: Path | None,
    skipped: Path | None,
    as_json: bool,
    quiet: bool,
    force: bool,
    **reading: Any,
) -> int:
    """Add documents, and say which of them were seen before.

    All of them are added, or none. A document whose id is there already is skipped.

    \b
    nearly index add seen/ new.jsonl
    nearly index add seen/ new.jsonl --replace -o pairs.parquet
    """
    from nearly.sinks import check_different, check_not_read, check_output

    check_different(output, skipped)
    for path in (output, skipped):
        if path is not None:
            check_output(path, force=force)
            check_not_read(path, inputs=source)
    if output is None and skipped is None:
        with _opened(place) as held:
            added = held.add(shared.given_source(source), replace=replace, **reading)
    else:
        added = _add_and_write(
            place, source, output, skipped, replace=replace, force=force, **reading
        )
    if as_json:
        report.print_json({"seen": added.seen, "skipped": added.skipped, **_counts(added)})
    elif output is None:
        _print_seen(added)
    if not quiet:
        _say_added(added)
    report.say_skipped(added.skipped, added.skipped_count, skipped)
    return report.ending(added.skipped_count)


@index.command(cls=Command)
@place
@click.argument("ids", nargs=-1, required=True)
@shared.quiet_option
@shared.debug_option
def remove(place: Path | str, ids: tuple[str, ...], quiet: bool) -> int:
    """Remove documents by their ids.

    \b
    nearly index remove seen/ 4711 4712
    """
    with _opened(place) as held:
        missing = [each for each in ids if each not in held]
        removed = held.remove(ids)
    if not quiet:
        say(f"{count(removed, 'document')} removed")
    for each in missing:
        say(f"not in the index: {each}")
    return exit_code.INCOMPLETE if missing else exit_code.CLEAN


@index.command(cls=Command)
@place
@option(
    "Index", "--repair", is_flag=True, help="Drop what is broken, and list the documents that go."
)
@shared.json_option
@shared.debug_option
def check(place: Path | str, repair: bool, as_json: bool) -> int:
    """Read all of an index, and say whether it is as it was written.

    \b
    nearly index check seen/
    nearly index check seen/ --repair
    """
    from nearly.index.index import Index

    found = Index.check_at(place, repair=repair)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=1))
    else:
        _say_checked(found)
    return exit_code.CLEAN if found.is_sound or found.repaired else exit_code.INCOMPLETE


@index.command(cls=Command)
@place
@shared.quiet_option
@shared.debug_option
def compact(place: Path | str, quiet: bool) -> int:
    """Write all segments of an index as one, without what was removed.

    \b
    nearly index compact seen/
    """
    with _opened(place) as held:
        held.compact()
        if not quiet:
            _say_size(held)
    return exit_code.CLEAN


@index.command(cls=Command)
@place
@shared.json_option
@shared.debug_option
def stats(place: Path | str, as_json: bool) -> int:
    """Say how large an index is, and what it was made with.

    \b
    nearly index stats seen/ --json
    """
    with _opened(place, read_only=True) as held:
        told = held.stats().to_dict()
    if as_json:
        click.echo(json.dumps(told, indent=1))
    else:
        for name, value in told.items():
            if value is None:
                continue
            shown = f"{value:,}" if type(value) is int else value
            click.echo(f"{name:10} {short(shown) if isinstance(shown, float) else shown}")
    return exit_code.CLEAN


@index.command("clusters", cls=Command)
@place
@option(
    "Output", "-o", "--output", metavar="FILE", type=shared.File, help="Write them to this file."
)
@shared.force_option
@shared.quiet_option
@shared.debug_option
def list_clusters(place: Path | str, output: Path | None, force: bool, quiet: bool) -> int:
    """List the clusters of all documents, by numbers that stay as the index grows.

    \b
    nearly index clusters seen/ -o clusters.parquet
    """
    from nearly.sinks import check_output, write_table

    if output is not None:
        check_output(output, force=force)
    with _opened(place, read_only=True) as held:
        found = held.clusters()
    if output is not None:
        write_table(found, found.schema, output, force=force)
    else:
        for name, cluster, weakest in zip(*found.to_pydict().values(), strict=True):
            click.echo(harmless(f"{cluster}  {short(weakest)}  {name}"))
    if not quiet:
        clusters = count(len(set(found["cluster"].to_pylist())), "cluster")
        say(f"{count(found.num_rows, 'document')} in {clusters}")
    return exit_code.CLEAN


@index.command(cls=Command)
@place
@click.argument("to", type=click.Path(path_type=Path))
@shared.quiet_option
@shared.debug_option
def snapshot(place: Path | str, to: Path, quiet: bool) -> int:
    """Copy an index whole, also while another process adds to it.

    \b
    nearly index snapshot seen/ backup/
    """
    with _opened(place, read_only=True) as held:
        held.snapshot(to)
    if not quiet:
        say(f"{place} copied to {to}")
    return exit_code.CLEAN


@index.command(cls=Command)
@click.argument("snapshot", type=click.Path(path_type=Path))
@place
@shared.quiet_option
@shared.debug_option
def restore(snapshot: Path, place: Path | str, quiet: bool) -> int:
    """Make an index from a snapshot, which is checked first.

    \b
    nearly index restore backup/ seen/
    """
    from nearly.index.index import Index

    with Index.restore(snapshot, place) as held:
        if not quiet:
            _say_size(held)
    return exit_code.CLEAN


@contextmanager
def _opened(place: Path | str, *, read_only: bool = False) -> Iterator[Index]:
    from nearly.index.index import Index

    with Index.open(place, read_only=read_only) as held:
        yield held


def _add_and_write(
    place: Path | str,
    source: tuple[str, ...],
    output: Path | None,
    skipped: Path | None,
    *,
    replace: bool,
    force: bool,
    **reading: Any,
) -> Added:
    """Documents and files: all of it, or nothing."""
    from nearly.cli.against import adding_last
    from nearly.sinks import Outputs

    with _opened(place) as held, adding_last(held, "the report") as adding:
        added = adding.add(shared.given_source(source), replace=replace, **reading)
        with Outputs(force=force, decider=adding) as outputs:
            for table, path in ((added.seen, output), (added.skipped, skipped)):
                if path is not None:
                    outputs.write(table, table.schema, path)
    return added


def _end(records: pa.Table, total: int, place: Path | None, *, force: bool) -> int:
    """Say what was left out, and where all of it is listed."""
    from nearly.sinks import write_table

    if place is not None:
        write_table(records, records.schema, place, force=force)
    report.say_skipped(records, total, place)
    return report.ending(total)


def _counts(added: Added) -> dict[str, int]:
    return {name: getattr(added, name) for name in ("added", "copies", "replaced", "left_out")}


def _print_seen(added: Added) -> None:
    for later, earlier, value in zip(*added.seen.to_pydict().values(), strict=True):
        click.echo(harmless(f"{short(value)}  {later}  {earlier}"))


def _say_added(added: Added) -> None:
    seen = len(set(added.seen.column("id").to_pylist()))
    copies = count(added.copies, "exact copy", "exact copies")
    say(f"{count(added.added, 'document')} added; {seen:,} of them seen before, {copies}")
    if added.replaced:
        say(f"{count(added.replaced, 'document')} replaced")
    if added.left_out:
        say(f"{added.left_out:,} members of crowded buckets were not looked at")


def _say_size(held: Index) -> None:
    told = held.stats()
    reach = f"within {told.within}" if told.threshold is None else f"at {told.threshold}"
    segments = f" in {count(told.segments, 'segment')}, {told.bytes / 10**6:,.1f} MB"
    how = f"{told.bands} bands of {told.rows} rows find {told.promised:.2%} of"
    promise = f"{how} what lies right at the threshold" if told.bands else "nothing is missed"
    documents = f"{count(told.documents, 'document')}{segments if told.segments else ''}"
    say(f"{documents}; {told.compared} {reach}, {promise}")


def _say_checked(found: Checked) -> None:
    for problem in found.problems:
        say(problem)
    if found.is_sound:
        say("the index is sound")
    for dropped in found.dropped:
        click.echo(harmless(str(dropped)))
    if found.repaired:
        say(f"{count(len(found.dropped) + found.lost, 'document')} dropped; the rest is kept")
        if found.lost:
            say(f"the ids of {found.lost:,} of them cannot be read")
