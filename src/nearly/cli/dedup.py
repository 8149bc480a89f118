"""`nearly dedup`: a clean copy of a table, or a plan to clean up a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nearly.cli import option as shared
from nearly.cli import report
from nearly.cli.engine import engine_at_work, is_spark
from nearly.cli.progress import watched
from nearly.cli.section import Command, option
from nearly.errors import SinkError

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
    help="Write the clean copy, or plan, to this file.",
)
@option(
    "Output",
    "--removed",
    metavar="FILE",
    type=shared.Place,
    help="Write what was removed, and for what.",
)
@option(
    "Output",
    "--clusters",
    metavar="FILE",
    type=shared.Place,
    help="Write the clusters to this file.",
)
@option(
    "Output",
    "--keep",
    metavar="RULE",
    default="first",
    show_default=True,
    help="Of a cluster, keep the first, last, longest, shortest, newest:COLUMN, oldest:COLUMN, "
    "max:COLUMN or min:COLUMN.",
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

    Of a table, the rows that stay are written to the output; a folder of Parquet, Arrow, CSV or
    JSONL parts is a table. Of a folder of documents, nothing is deleted: a plan is written
    (nearly-plan.json, unless -o says otherwise), which nearly apply carries out. With Spark every
    output is a table: a folder of parts, or for what fits in memory one file.

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
            outcome = _write_plan(result, folder, Path(target), force=force)
    if as_json:
        with engine_at_work(spark=spark):
            report.print_json(_members(result))
    if not quiet:
        report.say_summary(result, outcome)
    report.say_skipped(result, skipped)
    return report.ending(result)


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
                "there is no output; give the file for the clean copy, as in -o clean.parquet"
            )
        report.check_outputs(output, force=force, spark=spark)
        return output
    target = Path(output or PLAN)
    if target.suffix != ".json":
        raise SinkError(
            f"the output is {str(target)!r}, and of a folder a plan is written, which is JSON; "
            "give a name that ends in .json"
        )
    check_place(target, force=force)
    return target


def _write_copy(result: Deduplicated, target: Path | str, outputs: Outputs, *, spark: bool) -> str:
    if spark:
        outputs.write_frame(result.kept, target)
        return f"{_removed(result)}; all others written to {target}"
    kept = outputs.write(result.read_kept(), result.schema, Path(target))
    return f"{_removed(result)}; {report.count(kept, 'row')} written to {target}"


def _write_plan(result: Deduplicated, folder: Path, target: Path, *, force: bool) -> str:
    """Symbolic links are left out: to remove one frees nothing, and none can stand for a file."""
    from nearly.plans import make_plan, save_plan

    removals = list(_removals(result))
    planned = [r for r in removals if not any((folder / name).is_symlink() for name in r[:2])]
    plan = make_plan(folder, planned, result.settings.to_dict())
    save_plan(plan, target, force=force)
    size = sum(removal.bytes for removal in plan.removals)
    links = len(removals) - len(planned)
    return (
        f"{report.count(len(plan.removals), 'file')} to remove ({size:,} bytes)"
        + (f", {report.count(links, 'symbolic link')} left alone" if links else "")
        + f"; nothing was deleted: the plan is {target}, and nearly apply {target} shows it"
    )


def _removals(result: Deduplicated) -> Iterator[tuple[str, str, float]]:
    from nearly.sources import name_of_id

    for batch in result.removed.to_batches():
        for row in batch.to_pylist():
            yield name_of_id(row["id"]), name_of_id(row["survivor"]), row["similarity"]


def _removed(result: Deduplicated) -> str:
    statistics = result.statistics
    clusters = report.count(statistics["clusters"], "cluster")
    return f"{report.count(statistics['removed'], 'document')} removed from {clusters}"


def _members(result: Deduplicated) -> dict[str, Any]:
    return {
        "removed": result.removed,
        "clusters": result.clusters,
        "skipped": result.skipped,
        "statistics": result.statistics,
        "settings": result.settings.to_dict(),
    }
