"""`nearly dedup`: a clean copy of a table, or a plan to clean up a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nearly.cli import option as shared
from nearly.cli import report
from nearly.cli.engine import engine_at_work, is_spark
from nearly.cli.progress import watched
from nearly.cli.section import Command, option
from nearly.errors import SinkError
from nearly.wording import count

if TYPE_CHECKING:
    from nearly.results import Deduplicated
    from nearly.sinks import Outputs

__all__ = ["dedup"]

PLAN = Path("nearly-plan.json")


@click.command(cls=Command)
@shared.source_argument
@shared.source_options
@shared.text_options
@shared.search_options
@shared.signature_options
@option(
    "Output",
    "-o",
    "--output",
    metavar="FILE",
    type=shared.Place,
    help="Write the clean copy, or the plan, to this file.",
)
@option(
    "Output",
    "--removed",
    metavar="FILE",
    type=shared.Place,
    help="Write the removed documents and their survivors to this file.",
)
@option(
    "Output",
    "--clusters",
    metavar="FILE",
    type=shared.Place,
    help="Write the clusters to this file.",
)
@shared.setting("Output", "--keep", metavar="RULE")
@shared.skipped_option
@shared.json_option
@shared.quiet_option
@shared.force_option
@shared.engine_options
@shared.run_options
@shared.debug_option
def dedup(
    source: tuple[str, ...],
    output: Path | str | None,
    removed: Path | str | None,
    clusters: Path | str | None,
    skipped: Path | str | None,
    as_json: bool,
    quiet: bool,
    force: bool,
    **options: Any,
) -> int:
    """Keep one document of each cluster.

    For a table, the remaining rows are written to the output; a folder of Parquet, Arrow, CSV or
    JSONL files is a table. For a folder of documents, no file is deleted: nearly writes a plan
    (nearly-plan.json, or the file that -o names), and nearly apply carries it out. With Spark,
    every output is a folder of Parquet files, or a single file if it fits in memory.

    \b
    nearly dedup corpus.parquet -o clean.parquet --removed removed.parquet --keep longest
    nearly dedup photos-texts/ -o plan.json
    nearly dedup corpus/ --engine spark -o clean/ --keep longest
    """
    from nearly import api
    from nearly.sinks import Outputs

    spark = is_spark(options)
    folder = None if spark else _folder(source, lines=options["lines"], glob=options["glob"])
    target = _target(output, folder, force=force, spark=spark)
    report.check_outputs(removed, clusters, skipped, force=force, spark=spark)
    arguments = shared.library_arguments(options)
    report.announce_terminal(source)
    with (
        Outputs(force=force) as outputs,
        engine_at_work(spark=spark),
        watched(quiet=quiet) as progress,
    ):
        result = api.dedup(shared.given_source(source), progress=progress, **arguments)
        progress.stage("write", None)
        report.write_tables(
            outputs,
            (result.removed, removed),
            (result.clusters, clusters),
            (result.skipped, skipped),
            spark=spark,
        )
        if folder is None:
            outcome = _write_copy(result, target, outputs, spark=spark)
        else:
            outcome = _write_plan(result, Path(target), force=force)
    if as_json:
        with engine_at_work(spark=spark):
            report.print_json(_members(result))
    if not quiet:
        report.say_summary(result, outcome)
    report.say_skipped(result.skipped, result.statistics.skipped, skipped)
    return report.ending(result.statistics.skipped)


def _folder(source: tuple[str, ...], *, lines: bool, glob: str | None) -> Path | None:
    """The folder whose files are the documents, if that is what was given."""
    from nearly.sources import holds_tables

    if len(source) > 1 or lines or not os.path.isdir(source[0]):
        return None
    return None if holds_tables(source[0], glob) else Path(source[0])


def _target(
    output: Path | str | None, folder: Path | None, *, force: bool, spark: bool
) -> Path | str:
    """Where the clean copy or the plan goes; refused now rather than after the work."""
    from nearly.sinks import check_place

    if folder is None:
        if output is None:
            raise SinkError(
                "there is no output; name a file for the clean copy, for example -o clean.parquet"
            )
        report.check_outputs(output, force=force, spark=spark)
        return output
    target = Path(output or PLAN)
    if target.suffix != ".json":
        raise SinkError(
            f"the output is {str(target)!r}, but for a folder nearly writes a plan, which is JSON; "
            "give a name that ends in .json"
        )
    check_place(target, force=force)
    return target


def _write_copy(result: Deduplicated, target: Path | str, outputs: Outputs, *, spark: bool) -> str:
    if spark:
        outputs.write_frame(result.kept, target)
        return f"{_removed(result)}; all others written to {target}"
    kept = outputs.write(result.read_kept(), result.schema, Path(target))
    return f"{_removed(result)}; {count(kept, 'row')} written to {target}"


def _write_plan(result: Deduplicated, target: Path, *, force: bool) -> str:
    from nearly.plans import save_plan

    plan = result.plan()
    save_plan(plan, target, force=force)
    links = len(result) - len(plan.removals)
    return (
        f"{count(len(plan.removals), 'file')} to remove ({plan.bytes:,} bytes)"
        + (f", {count(links, 'symbolic link')} left alone" if links else "")
        + f"; nothing was deleted: the plan is {target}, and nearly apply {target} shows it"
    )


def _removed(result: Deduplicated) -> str:
    statistics = result.statistics
    clusters = count(statistics.clusters, "cluster")
    return f"{count(len(result), 'document')} removed from {clusters}"


def _members(result: Deduplicated) -> dict[str, Any]:
    return {
        "removed": result.removed,
        "clusters": result.clusters,
        "skipped": result.skipped,
        "statistics": result.statistics.to_dict(),
        "settings": result.settings.to_dict(),
    }
