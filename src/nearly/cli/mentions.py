"""`nearly mentions`: a test set from any table of short texts, for `nearly evaluate`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nearly.cli import exit_code, report
from nearly.cli import option as shared
from nearly.cli.message import say
from nearly.cli.section import Command, option

if TYPE_CHECKING:
    import pyarrow as pa

    from nearly.sources import Skipped

__all__ = ["mentions"]


@click.command(cls=Command)
@shared.source_argument
@shared.source_options
@option(
    "Output",
    "-o",
    "--output",
    metavar="FILE",
    type=shared.File,
    required=True,
    help="Write the groups to this file.",
)
@shared.force_option
def mentions(
    source: tuple[str, ...], strict: bool, output: Path, force: bool, **reading: Any
) -> int:
    """Make a truth of texts that differ only in whom they mention (@name).

    Such texts ought to be found as similar, and nobody has to label them. The groups (id and
    cluster) are a truth for `nearly evaluate`, of which recall is what counts: other documents
    may be similar too.

    \b
    nearly mentions tweets.parquet -o gold.csv
    nearly find tweets.parquet --threshold 0.7 -o pairs.parquet
    nearly evaluate pairs.parquet --gold gold.csv
    """
    from nearly.sinks import check_output, write_table
    from nearly.sources import Skipped

    check_output(output, force=force)
    skipped = Skipped(strict=strict)
    groups = _groups(source, reading, skipped)
    write_table(groups, groups.schema, output, force=force)
    clusters = len(set(groups["cluster"].to_pylist()))
    say(
        f"{report.count(groups.num_rows, 'document')} in {report.count(clusters, 'group')}, "
        f"written to {output}"
    )
    for record in skipped.table().slice(0, report.MOST_NAMED).to_pylist():
        say(f"skipped {record['record']}: {record['reason']}")
    if len(skipped) > report.MOST_NAMED:
        say(f"skipped {len(skipped):,} in all")
    return exit_code.INCOMPLETE if len(skipped) else exit_code.CLEAN


def _groups(source: tuple[str, ...], reading: dict[str, Any], skipped: Skipped) -> pa.Table:
    from nearly.evaluation.mention import differing_in_mentions
    from nearly.sources import open_source

    with tempfile.TemporaryDirectory(prefix="nearly-") as folder:
        opened = open_source(shared.given_source(source), temporary=Path(folder), **reading)
        batches = opened.documents(skipped)
        rows = (row for batch in batches for row in batch.select(["id", "text"]).to_pylist())
        return differing_in_mentions((row["id"], row["text"]) for row in rows)
