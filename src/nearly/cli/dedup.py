"""`nearly dedup`: a clean copy of a table, or a plan to clean up a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nearly.cli import option as shared
from nearly.cli import report
from nearly.cli.against import index_beside
from nearly.cli.cut import CUT_ONLY, Written, refuse_cut_options, refuse_others, run_cut
from nearly.cli.engine import CommandEngine, engine_of
from nearly.cli.progress import watched
from nearly.cli.section import Command, Whole, option
from nearly.errors import SinkError
from nearly.settings import CutSettings
from nearly.wording import count

if TYPE_CHECKING:
    from nearly.results import Deduplicated
    from nearly.sinks import Outputs

__all__ = ["dedup"]

PLAN = Path("nearly-plan.json")
cut_setting = shared.setting_of(CutSettings)


@click.command(cls=Command)
@shared.source_argument
@shared.against_option
@option(
    "Source",
    "--add",
    is_flag=True,
    help="Add the documents that stay to the index that --against names.",
)
@shared.source_options
@shared.setting("Source", "--unique-ids")
@shared.text_options
@shared.search_options
@shared.signature_options
@option(
    "Passages",
    "--passages",
    is_flag=True,
    help="Cut repeated passages out of documents, instead of removing documents.",
)
@cut_setting("Passages", "--each")
@cut_setting("Passages", "--least", kind=int)
@option(
    "Output",
    "-o",
    "--output",
    metavar="PLACE",
    type=shared.Place,
    help="Write the clean copy, or the plan, to this file; to a folder, file by file; or to "
    "stdout (-).",
)
@option(
    "Output",
    "--removed",
    metavar="FILE",
    type=shared.Place,
    help="Write the removed documents, or the cuts, and their survivors to this file.",
)
@option(
    "Output",
    "--clusters",
    metavar="FILE",
    type=shared.Place,
    help="Write the clusters to this file.",
)
@shared.setting("Output", "--keep", metavar="RULE", show_default=False)
@shared.setting("Output", "--unreadable")
@option(
    "Output",
    "--shard-size",
    metavar="ROWS",
    type=Whole(min=1),
    help="Write files of this many rows to the folder of -o.",
)
@option(
    "Output",
    "--source-column",
    metavar="NAME",
    help="Add a column with the source file, if rows are not copied byte for byte.",
)
@shared.skipped_option
@shared.json_option
@shared.quiet_option
@shared.force_option
@shared.engine_options
@shared.run_options
@shared.debug_option
def dedup(
    source: tuple[str, ...],
    add: bool,
    passages: bool,
    output: Path | str | None,
    removed: Path | str | None,
    clusters: Path | str | None,
    skipped: Path | str | None,
    shard_size: int | None,
    source_column: str | None,
    as_json: bool,
    quiet: bool,
    force: bool,
    **options: Any,
) -> int:
    """Keep one document of each cluster.

    For a table, the remaining rows are written to the output: byte for byte if it has the format
    of the input, converted if it has another. A folder of Parquet, Arrow, CSV or JSONL files is a
    table. An output without an ending, like clean/, is a folder with one file for each file of the
    input. Rows that could not be read were not compared, and stay.

    For a folder of documents, no file is deleted: nearly writes a plan (nearly-plan.json, or the
    file that -o names), and nearly apply carries it out. With Spark,
    every output is a folder of Parquet files, or a single file if it fits in memory.

    With --against, new documents that are like an old one go too, and old ones stay whatever --keep
    says. The output has new documents only; of a folder, a table of them is written, and no plan.
    The old ones may be an index (nearly index), whose settings hold then; --add puts the documents
    that stay into it, after the output is written.

    With --passages no document is removed: sentences, paragraphs or lines that stand at an earlier
    place are cut out of the texts, and all else stays as it is.

    \b
    nearly dedup corpus.parquet -o clean.parquet --removed removed.parquet --keep longest
    nearly dedup 'shards/*.jsonl.gz' -o clean/
    nearly dedup photos-texts/ -o plan.json
    nearly dedup new.jsonl --against kept.parquet -o fresh.jsonl
    nearly dedup new.jsonl --against seen/ --add -o fresh.jsonl
    nearly dedup corpus/ --engine spark -o clean/ --keep longest
    nearly dedup corpus.parquet --passages -o clean.parquet --removed cuts.parquet
    """
    from nearly import api
    from nearly.sinks import Outputs, check_different

    context = click.get_current_context()
    if passages:
        refuse_others(context)
        return run_cut(
            source,
            Written(output=output, removed=removed, skipped=skipped, force=force),
            {"shard_rows": shard_size, "source_column": source_column},
            options,
            as_json=as_json,
            quiet=quiet,
        )
    refuse_cut_options(context)
    for name in CUT_ONLY:
        del options[name]
    engine = engine_of(options)
    folder = None
    if not engine.writes_parts and options["against"] is None:
        folder = _folder(source, lines=options["lines"], glob=options["glob"])
    if folder is not None and options["within"] is not None:
        raise click.UsageError(
            "of a folder a plan is written, which says how similar files are; give --threshold "
            "instead of --within"
        )
    layout = {"shard_rows": shard_size, "source_column": source_column}
    _refuse_layout(source, output, folder, layout, engine=engine, as_json=as_json)
    sharded = shard_size is not None
    target = _target(
        output, folder, force=force, engine=engine, lines=options["lines"], sharded=sharded
    )
    check_different(target, removed, clusters, skipped)
    inputs = (*source, options["against"])  # a clean copy may take the place of its source
    report.check_outputs(removed, clusters, skipped, force=force, engine=engine, inputs=inputs)
    arguments = shared.library_arguments(options)
    report.announce_terminal(source)
    with (
        index_beside(context, arguments, add=add) as beside,
        Outputs(force=force, decider=beside.adding) as outputs,
        engine.at_work(),
        watched(quiet=quiet) as progress,
    ):
        result = api.dedup(shared.given_source(source), progress=progress, **arguments)
        progress.stage("write", None)
        report.write_tables(
            outputs,
            (result.removed, removed),
            (result.clusters, clusters),
            (result.skipped, skipped),
            engine=engine,
        )
        if folder is None:
            outcome = _write_copy(result, target, outputs, layout, engine=engine)
        else:
            outcome = _write_plan(result, Path(target), outputs)
        beside.keep(result)
    if as_json:
        with engine.at_work():
            report.print_json(_members(result))
    if not quiet:
        report.say_summary(result, "\n".join([outcome, *_chained(result)]))
    report.say_skipped(result.skipped, result.statistics.skipped, skipped)
    return report.ending(result.statistics.skipped)


def _folder(source: tuple[str, ...], *, lines: bool, glob: str | None) -> Path | None:
    """The folder whose files are the documents, if that is what was given."""
    from nearly.sources import holds_tables

    if len(source) > 1 or lines or not os.path.isdir(source[0]):
        return None
    return None if holds_tables(source[0], glob) else Path(source[0])


def _refuse_layout(
    source: tuple[str, ...],
    output: Path | str | None,
    folder: Path | None,
    layout: Mapping[str, Any],
    *,
    engine: CommandEngine,
    as_json: bool,
) -> None:
    """Refuse what the copy cannot be like, before the long work starts."""
    for name, given in layout.items():
        option_name = {"shard_rows": "--shard-size", "source_column": "--source-column"}[name]
        if given is not None and (engine.writes_parts or folder is not None):
            where = (
                "Spark writes parts of its own"
                if engine.writes_parts
                else "of a folder a plan is written"
            )
            raise click.UsageError(f"{option_name} is for clean copies of one machine, and {where}")
    if str(output) == "-" and (engine.writes_parts or as_json or folder is not None):
        raise click.UsageError("-o - writes the clean copy of a table to stdout, and nothing else")
    if layout["source_column"] is not None and output is not None:
        ending = _text_ending(output)
        if ending and any(_text_ending(path) == ending for path in source):
            raise click.UsageError(
                f"{ending} is copied as it stands, without a column more; write another format, "
                "as in -o clean.parquet, or leave --source-column out"
            )


def _text_ending(path: Path | str) -> str | None:
    name = str(path).lower().removesuffix(".gz").removesuffix(".zst")
    return next((ending for ending in (".csv", ".tsv", ".jsonl") if name.endswith(ending)), None)


def _target(
    output: Path | str | None,
    folder: Path | None,
    *,
    force: bool,
    engine: CommandEngine,
    lines: bool,
    sharded: bool,
) -> Path | str:
    """Where the clean copy or the plan goes; refused now rather than after the work."""
    from nearly.sinks import check_place, has_scheme
    from nearly.sinks.clean_copy import check_copy

    if folder is None:
        if output is None:
            raise SinkError(
                "there is no output; name a file for the clean copy, for example -o clean.parquet"
            )
        if engine.writes_parts or has_scheme(output):
            report.check_outputs(output, force=force, engine=engine)
        else:
            check_copy(Path(output), lines=lines, sharded=sharded, force=force)
        return output
    target = Path(output or PLAN)
    if target.suffix != ".json":
        raise SinkError(
            f"the output is {str(target)!r}, but for a folder nearly writes a plan, which is JSON; "
            "give a name that ends in .json"
        )
    check_place(target, force=force)
    return target


def _write_copy(
    result: Deduplicated,
    target: Path | str,
    outputs: Outputs,
    layout: Mapping[str, Any],
    *,
    engine: CommandEngine,
) -> str:
    if engine.writes_parts:
        engine.write(outputs, result.kept, target)
        return f"{_removed(result)}; all others written to {target}"
    from nearly.sinks.clean_copy import STDOUT, write_copy

    kept: Any = result.read_kept
    copied = write_copy(outputs, kept, Path(target), **layout)
    place = "stdout" if target == STDOUT else target
    files = f" in {copied.files:,} files" if copied.files > 1 else ""
    lines = [
        f"{_removed(result)}; {count(copied.rows, 'row')} written to {place}{files}",
        *([copied.note] if copied.note else []),
        *([_unreadable(kept, copied.left_out)] if kept.unreadable else []),
    ]
    return "\n".join(lines)


def _unreadable(kept: Any, left_out: int) -> str:
    """What became of the rows that were not compared."""
    several = kept.unreadable > 1
    fate = "they stay" if several else "it stays"
    if kept.drops_unreadable:
        fate = "they go" if several else "it goes"
    elif left_out:
        fate = f"{left_out:,} cannot be converted and {'are' if left_out > 1 else 'is'} left out"
    return f"{count(kept.unreadable, 'row')} could not be read; {fate}"


def _write_plan(result: Deduplicated, target: Path, outputs: Outputs) -> str:
    from nearly.plans import plan_as_json

    plan = result.plan()
    with outputs.open(target) as file:
        file.write(plan_as_json(plan))
    _, chosen = result.files()
    links, stranded = len(chosen.links), len(chosen.stranded)
    return (
        f"{count(len(plan.removals), 'file')} to remove ({plan.bytes:,} bytes)"
        + (f", {count(links, 'symbolic link')} left alone" if links else "")
        + (f", {count(stranded, 'file')} left alone beside a link" if stranded else "")
        + f"; nothing was deleted: the plan is {target}, and nearly apply {target} shows it"
    )


def _removed(result: Deduplicated) -> str:
    statistics = result.statistics
    clusters = count(statistics.clusters, "cluster")
    return f"{count(len(result), 'document')} removed from {clusters}"


def _chained(result: Deduplicated) -> list[str]:
    """What is removed though it is not similar enough to what stays for it."""
    below = result.statistics.below
    if not below:
        return []
    documents, whose = ("document is", "its") if below == 1 else ("documents are", "their")
    far = f"below {result.settings.threshold:g} to"
    if result.settings.within is not None:
        far = f"more than {result.settings.within:g} from"
    return [
        f"{below:,} removed {documents} {far} {whose} survivor, "
        "linked by others in a chain; --cluster leader keeps such documents"
    ]


def _members(result: Deduplicated) -> dict[str, Any]:
    return {
        "removed": result.removed,
        "clusters": result.clusters,
        "skipped": result.skipped,
        "statistics": result.statistics.to_dict(),
        "settings": result.settings.to_dict(),
    }
