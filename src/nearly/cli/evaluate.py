"""`nearly evaluate`: how well pairs or clusters agree with a labelled truth."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from nearly.cli import exit_code, report
from nearly.cli import option as shared
from nearly.cli.message import say
from nearly.cli.section import Command, option
from nearly.errors import MissingError, SettingsError

if TYPE_CHECKING:
    import pyarrow as pa

    from nearly.evaluation.agreement import Cut, Evaluation, Linkage
    from nearly.evaluation.linkage import Linked

__all__ = ["evaluate", "thresholds_of"]

#: More points than a plot can show are a slip of the pen.
MOST_THRESHOLDS: Final = 1_000


@click.command(cls=Command)
@click.argument("found", type=click.Path())
@option("Truth", "--gold", metavar="FILE", required=True, help="Pairs or clusters that are true.")
@option("Truth", "--documents", metavar="SOURCE", help="Where FOUND was found: all ids that exist.")
@option("Truth", "--id", metavar="COLUMN", help="The column that names a document there.")
@option("Truth", "--text", metavar="COLUMN", help="The column that holds the text there.")
@option(
    "Measure", "--sweep", metavar="FROM:TO:STEP", help="Also by threshold, such as 0.3:0.95:0.05."
)
@option(
    "Output",
    "--plot",
    metavar="FILE",
    type=shared.File,
    help="Draw the bars and the sweep: .svg, .png or .html.",
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
    """Compare what was found with a labelled truth.

    FOUND is a file of pairs or clusters that `nearly find` wrote, or any table with the columns
    id_a, id_b and perhaps similarity, or id and cluster; so is the truth. Exact copies, which
    `nearly find` links once, count in full. A SQL query may stand for each of the files.

    \b
    nearly find corpus.parquet --threshold 0.3 -o pairs.parquet
    nearly evaluate pairs.parquet --gold gold.csv
    nearly evaluate pairs.parquet --gold gold.csv --sweep 0.3:0.95:0.05 --plot accuracy.svg
    nearly evaluate clusters.csv --gold gold.csv --documents corpus.parquet --json
    """
    from nearly.drawing.curve import check_format
    from nearly.evaluation import agreement, score
    from nearly.sinks import check_place

    thresholds = thresholds_of(sweep) if sweep is not None else []
    if plot is not None:
        check_format(plot)
        check_place(plot, force=force)
    linked = _read(found, gold, documents, columns)
    _check_sweep(linked.found, found, thresholds)
    measured = agreement.evaluate(linked.found, linked.gold)
    cuts = agreement.sweep(linked.found, linked.gold, thresholds)
    if plot is not None:
        _draw(measured, cuts, plot, force=force)
    if as_json:
        unknown = {"unknown_ids": list(linked.unknown)}
        report.print_json(score.as_members(measured, cuts) | unknown)
    else:
        for line in score.lines(measured, cuts):
            click.echo(line)
    return _say_unknown(linked, gold)


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


def _read(found: str, gold: str, documents: str | None, columns: dict[str, Any]) -> Linked:
    from nearly.evaluation.linkage import link
    from nearly.sources import read_table

    with tempfile.TemporaryDirectory(prefix="nearly-") as folder:
        ours, theirs = (read_table(name, temporary=Path(folder)) for name in (found, gold))
        ids = None
        if documents is not None:
            ids = _ids_of(documents, columns, Path(folder))
        elif any(columns.values()):
            raise SettingsError("--id and --text are about --documents. Give it too.")
        return link(ours, theirs, ids)


def _ids_of(documents: str, columns: dict[str, Any], folder: Path) -> pa.ChunkedArray:
    """The ids of a source, as `nearly find` names them."""
    import pyarrow as pa

    from nearly.sources import Skipped, open_source

    source = open_source(documents, temporary=folder, **columns)
    batches = source.documents(Skipped())
    return pa.chunked_array([batch["id"] for batch in batches], source.id_type)


def _check_sweep(found: Linkage, name: str, thresholds: Sequence[float]) -> None:
    """A sweep cuts pairs again; it cannot bring back those that were never written."""
    if not thresholds:
        return
    if found.similarity is None:
        raise MissingError(
            f"a sweep needs the similarity of every pair, and {name} has no column 'similarity'. "
            "Give the pairs that nearly find wrote with -o."
        )
    least = float(found.similarities[found.weights > 0].min(initial=1))
    below = [threshold for threshold in thresholds if threshold <= least]
    if len(below) > 1:
        say(
            f"The least similar pair of {name} has {least:.4f}, and the sweep begins at "
            f"{below[0]:g}. If it was found with a higher threshold, what is shown below that "
            "threshold is not all there is."
        )


def _say_unknown(linked: Linked, gold: str) -> int:
    """Ids of the truth that no document has: listed, left out, and no clean run."""
    if not linked.unknown:
        return exit_code.CLEAN
    count = report.count(len(linked.unknown), "id")
    named = ", ".join(linked.unknown[: report.MOST_NAMED])
    more = ", …" if len(linked.unknown) > report.MOST_NAMED else ""
    say(f"{gold} has {count} that no document has, whose rows were left out: {named}{more}")
    return exit_code.INCOMPLETE


def _draw(measured: Evaluation, cuts: Sequence[Cut], plot: Path, *, force: bool) -> None:
    from nearly.drawing.chart import draw
    from nearly.drawing.curve import check_format, render
    from nearly.sinks import Outputs

    if not measured.bars:
        raise MissingError(
            "there is nothing to draw: what was found has no column 'similarity', or no pairs. "
            "Give the pairs that nearly find wrote with -o."
        )
    with Outputs(force=force) as outputs, outputs.open(plot) as file:
        file.write(render(draw(measured.bars, cuts), check_format(plot)))
