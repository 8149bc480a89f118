"""`nearly passages`: which passages documents share, and where they stand."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nearly.cli import option as shared
from nearly.cli import report
from nearly.cli.engine import ENGINES, engine_of
from nearly.cli.message import say
from nearly.cli.progress import watched
from nearly.cli.section import Command, option
from nearly.settings import PassageSettings
from nearly.wording import count

if TYPE_CHECKING:
    from nearly.passage.result import Passages

__all__ = ["passages"]

setting = shared.setting_of(PassageSettings)

#: Documents that the summary names.
MOST_NAMED = 10


def percentage(given: str) -> float:
    """A number with or without its sign; settings say what is wrong with it."""
    try:
        return float(given.removesuffix("%"))
    except ValueError:
        raise click.BadParameter(f"{given!r} is no percentage; write it like 20%") from None


@click.command(cls=Command)
@shared.source_argument
@option("Source", "--against", metavar="SOURCE", help="Compare with these documents only.")
@option(
    "Source",
    "--ignore",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Leave out what stands in this file, such as a task; may be repeated.",
)
@shared.source_options
@setting("Passages", "--least", kind=int, metavar="NUMBER")
@setting("Passages", "--unit")
@setting("Passages", "--verbatim")
@setting("Passages", "--group", metavar="COLUMN|folder")
@setting("Passages", "--common", kind=percentage, metavar="PERCENT")
@setting("Passages", "--crowd", kind=int, metavar="NUMBER")
@setting("Passages", "--stems")
@setting("Text", "--case")
@setting("Text", "--accents")
@setting("Text", "--form")
@option(
    "Output", "-o", "--output", metavar="FILE", type=shared.Place, help="Write the passages here."
)
@option(
    "Output", "--repeats", metavar="FILE", type=shared.Place, help="Write repeated passages here."
)
@option("Output", "--pairs", metavar="FILE", type=shared.Place, help="Write sums per pair here.")
@option(
    "Output", "--documents", metavar="FILE", type=shared.Place, help="Write sums per document here."
)
@shared.skipped_option
@shared.json_option
@shared.quiet_option
@shared.force_option
@shared.engine_options
@shared.run_options
@shared.debug_option
def passages(
    source: tuple[str, ...],
    against: str | None,
    ignore: tuple[Path, ...],
    output: Path | str | None,
    repeats: Path | str | None,
    pairs: Path | str | None,
    documents: Path | str | None,
    skipped: Path | str | None,
    as_json: bool,
    quiet: bool,
    force: bool,
    **options: Any,
) -> int:
    """Find the passages that documents share, and where they stand.

    Every verbatim run of at least --least units is found, and edited passages too. Offsets count
    characters of the texts as they are. A run that stands in many places is reported once with all
    its places. SOURCE and the file extension of an output are as in nearly find. Documents of
    --against are not held in memory, so put the smaller side first; with --memory those of SOURCE
    are not either. Outputs are files of this machine, with --engine spark too.

    \b
    nearly passages essays/ --ignore task.txt
    nearly passages essays/ --against sources/ --group folder
    nearly passages eval.jsonl --against 'train/*.parquet' --least 13
    nearly passages essays/ -o passages.parquet --documents shares.csv
    """
    from nearly import api
    from nearly.sinks import Outputs

    engine = engine_of(options)
    files = ENGINES["local"]  # the tables are here, wherever documents were compared
    places = (output, repeats, pairs, documents)
    inputs = (*source, against, *ignore)
    report.check_outputs(*places, skipped, force=force, engine=files, inputs=inputs)
    report.announce_terminal(source)
    with engine.at_work():
        with Outputs(force=force) as outputs:
            with watched(quiet=quiet) as progress:
                found = api.passages(
                    shared.given_source(source),
                    against,
                    list(ignore) or None,
                    progress=progress,
                    **options,
                )
            tables = (found.passages, found.repeats, found.pairs, found.documents)
            report.write_tables(
                outputs,
                *zip(tables, places, strict=True),
                (found.skipped, skipped),
                engine=files,
            )
        _show(found, output, as_json=as_json, quiet=quiet)
    report.say_skipped(found.skipped, found.skipped_count, skipped)
    return report.ending(found.skipped_count)


def _show(found: Passages, output: Path | str | None, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        names = ("passages", "repeats", "pairs", "documents", "skipped")
        report.print_json({name: getattr(found, name) for name in names})
    elif output is None:
        from nearly.cli.passage import print_passages

        print_passages(found, sys.stdout)
        sys.stdout.flush()
    if not quiet:
        _say_summary(found, output)


def _say_summary(found: Passages, output: Path | str | None) -> None:
    from nearly.cli.terminal import one_line

    where = f", written to {output}" if output is not None else ""
    line = f"{count(len(found), 'passage')} of {count(found.pairs.num_rows, 'pair')}"
    say(f"{count(found.documents.num_rows, 'document')}; {line}{where}")
    rows = [row for row in found.documents.to_pylist() if row["shared"]]
    rows.sort(key=lambda row: -row["share"])
    for row in rows[:MOST_NAMED]:
        most = "" if row["most_in"] is None else f", most of it in {one_line(str(row['most_in']))}"
        say(f"{row['share']:.0%} of {one_line(str(row['id']))} stands elsewhere{most}")
    if len(rows) > MOST_NAMED:
        say(f"and {len(rows) - MOST_NAMED:,} more documents; --documents FILE lists them all")
