"""`nearly evaluate`: how well pairs or clusters agree with a labelled truth."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from nearly.cli import exit_code, report
from nearly.cli import option as shared
from nearly.cli.message import say
from nearly.cli.section import Command, option
from nearly.errors import MissingError, SettingsError
from nearly.wording import count

if TYPE_CHECKING:
    from nearly.evaluation.agreement import Evaluation

__all__ = ["evaluate", "thresholds_of"]

#: More points than a plot can show are a mistake.
MOST_THRESHOLDS: Final = 1_000


@click.command(cls=Command)
@click.argument("found", type=click.Path())
@option(
    "Truth", "--gold", metavar="FILE", required=True, help="The truth: labelled pairs or clusters."
)
@option("Truth", "--documents", metavar="SOURCE", help="The source in which FOUND was found.")
@option("Truth", "--id", metavar="COLUMN", help="Column of this source that names a document.")
@option("Truth", "--text", metavar="COLUMN", help="Column of this source that holds the text.")
@option(
    "Measure",
    "--sweep",
    metavar="FROM:TO:STEP",
    help="Measure also at these thresholds, for example 0.3:0.95:0.05.",
)
@option(
    "Output",
    "--plot",
    metavar="FILE",
    type=shared.File,
    help="Draw the bars and the sweep to this file: .svg, .png or .html.",
)
@shared.json_option
@shared.force_option
def evaluate(
    found: str,
    gold: str,
    documents: str | None,
    sweep: str | None,
    plot: Path | None,
    as_json: bool,
    force: bool,
    **columns: str | None,
) -> int:
    """Measure precision and recall against a labelled truth.

    FOUND and the truth are tables with the columns id_a, id_b and optionally similarity (pairs), or
    id and cluster (clusters), as nearly find writes them. Each can also be a SQL query. Exact
    copies, which nearly find links only once, count as all their pairs.

    \b
    nearly find corpus.parquet --threshold 0.3 -o pairs.parquet
    nearly evaluate pairs.parquet --gold gold.csv
    nearly evaluate pairs.parquet --gold gold.csv --sweep 0.3:0.95:0.05 --plot accuracy.svg
    nearly evaluate clusters.csv --gold gold.csv --documents corpus.parquet --json
    """
    from nearly.drawing.curve import check_format
    from nearly.evaluation import score
    from nearly.evaluation.truth import evaluate as measure
    from nearly.sinks import check_place

    thresholds = thresholds_of(sweep) if sweep is not None else []
    if plot is not None:
        check_format(plot)
        check_place(plot, force=force)
    measured = measure(found, gold, documents=documents, thresholds=thresholds, **columns)
    _warn_of_sweep(measured, found, thresholds)
    if plot is not None:
        _draw(measured, plot, force=force)
    if as_json:
        report.print_json(measured.to_dict())
    else:
        for line in score.lines(measured):
            click.echo(line)
    return _say_unknown(measured.unknown, gold)


def thresholds_of(given: str) -> list[float]:
    """`0.3:0.95:0.05` as the thresholds that it names, both ends included."""
    try:
        start, stop, step = map(Decimal, given.split(":"))
    except (ValueError, InvalidOperation):
        raise _bad_sweep(given, "it has to be FROM:TO:STEP in numbers") from None
    finite = all(number.is_finite() for number in (start, stop, step))
    if not (finite and 0 < start <= stop <= 1 and step > 0):
        raise _bad_sweep(given, "thresholds lie above 0 and at most at 1, and rise by the step")
    count = int((stop - start) / step) + 1
    if count > MOST_THRESHOLDS:
        raise _bad_sweep(given, f"that is {count:,} thresholds, and {MOST_THRESHOLDS:,} are enough")
    # Decimals, so that 0.7 is the number that a user means by it.
    return [float(start + i * step) for i in range(count)]


def _bad_sweep(given: str, why: str) -> SettingsError:
    return SettingsError(f"the sweep is {given!r}; {why}. Write it like 0.3:0.95:0.05.")


def _warn_of_sweep(measured: Evaluation, name: str, thresholds: Sequence[float]) -> None:
    """A sweep cuts pairs again; it cannot bring back those that were never written."""
    least = 1.0 if measured.least is None else measured.least
    below = [threshold for threshold in thresholds if threshold <= least]
    if len(below) > 1:
        say(
            f"The least similar pair of {name} has {least:.4f}, and the sweep begins at "
            f"{below[0]:g}. If the pairs were found with a higher threshold, the numbers below it "
            "are incomplete."
        )


def _say_unknown(unknown: Sequence[str], gold: str) -> int:
    """Ids of the truth that no document has: listed, left out, and no clean run."""
    if not unknown:
        return exit_code.CLEAN
    named = ", ".join(unknown[: report.MOST_NAMED])
    more = ", …" if len(unknown) > report.MOST_NAMED else ""
    say(
        f"{gold} has {count(len(unknown), 'id')} that no document has; their rows were left out: "
        f"{named}{more}"
    )
    return exit_code.INCOMPLETE


def _draw(measured: Evaluation, plot: Path, *, force: bool) -> None:
    from nearly.drawing.chart import draw
    from nearly.drawing.curve import check_format, render
    from nearly.sinks import Outputs

    if not measured.bars:
        raise MissingError(
            "there is nothing to draw: what was found has no column 'similarity', or no pairs. "
            "Give the pairs that nearly find wrote with -o."
        )
    with Outputs(force=force) as outputs, outputs.open(plot) as file:
        file.write(render(draw(measured.bars, measured.cuts), check_format(plot)))
