"""`nearly find`: every pair of similar documents, and the clusters they form."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nearly.arguments import Tuning
from nearly.cli import option as shared
from nearly.cli import report
from nearly.cli.against import index_beside
from nearly.cli.engine import engine_of
from nearly.cli.progress import watched
from nearly.cli.section import Command, Whole, option
from nearly.wording import count

if TYPE_CHECKING:
    from nearly.results import Found

__all__ = ["find"]


@click.command(cls=Command)
@shared.source_argument
@shared.against_option
@shared.source_options
@shared.setting("Source", "--unique-ids")
@shared.text_options
@shared.search_options
@shared.setting("Search", "--all-pairs")
@shared.setting("Search", "--audit", kind=Whole(min=0), metavar="NUMBER")
@shared.signature_options
@option(
    "Output",
    "-o",
    "--output",
    metavar="FILE",
    type=shared.Place,
    help="Write all pairs to this file.",
)
@option(
    "Output",
    "--clusters",
    metavar="FILE",
    type=shared.Place,
    help="Write the clusters to this file.",
)
@shared.setting("Output", "--difference")
@shared.setting("Output", "--top", kind=Whole(min=0), metavar="NUMBER")
@option(
    "Output",
    "--around",
    is_flag=True,
    help="Show the pairs next to the threshold instead, on both sides; the near misses are those "
    "of some documents that are searched exactly.",
)
@option(
    "Output",
    "--save",
    metavar="DIR",
    type=shared.File,
    help="Keep the whole result in this folder, for nearly report and nearly.open.",
)
@shared.skipped_option
@shared.json_option
@shared.quiet_option
@shared.force_option
@option("Output", "--fail-on-found", is_flag=True, help="Exit with code 1 if pairs were found.")
@shared.engine_options
@shared.run_options
@shared.debug_option
def find(
    source: tuple[str, ...],
    output: Path | str | None,
    clusters: Path | str | None,
    save: Path | None,
    skipped: Path | str | None,
    around: bool,
    as_json: bool,
    quiet: bool,
    force: bool,
    fail_on_found: bool,
    **options: Any,
) -> int:
    """Find every pair of documents that is similar enough.

    SOURCE is a folder, one or more files, a quoted pattern, a SQL query, or - for standard input.
    It reads text files, CSV, TSV, JSON, JSONL, Parquet and Arrow, also compressed as .gz or .zst;
    spreadsheets, SQLite tables (FILE::TABLE), PDF, Word, OpenDocument and HTML files, and mails.
    The file extension of an output sets its format: .parquet, .csv, .tsv, .json, .jsonl or .arrow.
    With Spark, an output without an extension is a folder of Parquet files; a single file and
    --json are for results that fit in memory.

    With --against, each pair is an old document (id_a) and a new one (id_b). The old ones may be
    an index (nearly index); then its settings hold.

    \b
    nearly find docs/
    nearly find tweets.csv --id tweetid --text text --threshold 0.7 -o pairs.parquet
    nearly find 'mails/*.jsonl.gz' --unit word --k 3
    nearly find "SELECT id, body FROM 'dump/*.parquet' WHERE lang = 'en'"
    nearly find new/ --against old.parquet -o pairs.parquet
    nearly find new/ --against seen/ -o pairs.parquet
    cat docs.jsonl | nearly find - --json
    nearly find 's3a://bucket/*.parquet' --master spark://host:7077 -o pairs/
    """
    from nearly import api
    from nearly.sinks import Outputs

    engine = engine_of(options)
    inputs = (*source, options["against"])
    report.check_outputs(output, clusters, skipped, force=force, engine=engine, inputs=inputs)
    report.check_folder(save, force=force)
    arguments = shared.library_arguments(options) | {"around": Tuning().sample if around else 0}
    report.announce_terminal(source)
    with (
        index_beside(click.get_current_context(), arguments),
        Outputs(force=force) as outputs,
        engine.at_work(),
    ):
        with watched(quiet=quiet) as progress:
            found = api.find(shared.given_source(source), progress=progress, **arguments)
        report.write_tables(
            outputs,
            (found.pairs, output),
            (found.clusters, clusters),
            (found.skipped, skipped),
            engine=engine,
        )
        if save is not None:
            found.save(save, force=force, outputs=outputs)
    with engine.at_work():
        _show(found, output, as_json=as_json, quiet=quiet)
    report.say_skipped(found.skipped, found.statistics.skipped, skipped)
    return report.ending(found.statistics.skipped, fail=fail_on_found and len(found) > 0)


def _show(found: Found, output: Path | str | None, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        _print_json(found)
    elif found.around is not None:
        from nearly.cli.pair import print_around

        print_around(found.around, found.settings, sys.stdout)
    elif output is None:
        from nearly.cli.pair import print_pairs

        print_pairs(found.top.to_pylist(), sys.stdout)
    # Before the summary, should both go to the same place.
    sys.stdout.flush()
    if not quiet:
        report.say_summary(found, _outcome(found, output, as_json=as_json))


def _print_json(found: Found) -> None:
    members = {
        "pairs": found.pairs,
        "clusters": found.clusters,
        "skipped": found.skipped,
        "statistics": found.statistics.to_dict(),
        "settings": found.settings.to_dict(),
    }
    if found.around is not None:
        members["around"] = found.around.to_dict()
    report.print_json(members)


def _outcome(found: Found, output: Path | str | None, *, as_json: bool) -> str:
    line = f"{count(len(found), 'pair')} in {count(found.statistics.clusters, 'cluster')}"
    if output is not None:
        return f"{line}, written to {output}"
    if as_json or found.around is not None or found.top.num_rows == len(found):
        return line
    return f"{line}; {_shown(found)} shown, -o FILE writes them all"


def _shown(found: Found) -> str:
    """Which pairs are shown, in words that hold for copies and for equally similar pairs too."""
    shown, near = found.top.num_rows, found.statistics.near
    verb = "is" if shown == 1 else "are"
    if not shown:
        return "none are"
    if not found.statistics.copies:
        return f"{shown} of the most similar {verb}"
    if not near:
        return f"all are exact copies, {shown} {verb}"
    if shown == near:
        return "the only one that is no exact copy is" if near == 1 else f"the {near} near ones are"
    return f"{shown} of the most similar near ones {verb}"
