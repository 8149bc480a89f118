"""`nearly mentions`: a test set from any table of short texts, for `nearly evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from nearly.cli import option as shared
from nearly.cli import report
from nearly.cli.message import say
from nearly.cli.section import Command, option
from nearly.wording import count

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
def mentions(source: tuple[str, ...], output: Path, force: bool, **reading: Any) -> int:
    """Make a truth from texts that differ only in whom they mention (@name).

    Such texts should be found as similar, and nobody has to label them. The output (id and cluster)
    is a truth for nearly evaluate. Only the recall counts: other documents may be similar too.

    \b
    nearly mentions tweets.parquet -o gold.csv
    nearly find tweets.parquet --threshold 0.7 -o pairs.parquet
    nearly evaluate pairs.parquet --gold gold.csv
    """
    from nearly import api
    from nearly.sinks import check_not_read, check_output, write_table

    check_output(output, force=force)
    check_not_read(output, inputs=source)
    made = api.mentions(shared.given_source(source), **reading)
    write_table(made.groups, made.groups.schema, output, force=force)
    say(
        f"{count(made.groups.num_rows, 'document')} in {count(len(made), 'group')}, "
        f"written to {output}"
    )
    for record in made.skipped.slice(0, report.MOST_NAMED).to_pylist():
        say(f"skipped {record['record']}: {record['reason']}")
    if made.skipped_count > report.MOST_NAMED:
        say(f"skipped {made.skipped_count:,} in all")
    return report.ending(made.skipped_count)
