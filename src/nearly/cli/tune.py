"""`nearly tune`: which bands and rows to take, and what they will find, compare and cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nearly.cli import exit_code, report
from nearly.cli import option as shared
from nearly.cli.engine import ENGINES
from nearly.cli.message import say
from nearly.cli.progress import watched
from nearly.cli.section import Command, option
from nearly.errors import SettingsError
from nearly.tuning.banding import Banding, approximate_threshold
from nearly.tuning.valley import BARS, LOWEST
from nearly.wording import count

if TYPE_CHECKING:
    from nearly.advice.advice import Advice, Choice
    from nearly.advice.sample import Estimate

__all__ = ["tune"]

_BAR_WIDTH = 40
AT = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
#: The same for distances, in thresholds.
APART = (0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 5)


@click.command(cls=Command)
@shared.optional_source_argument
@option(
    "Goal",
    "--threshold",
    "-t",
    type=float,
    metavar="NUMBER",
    show_default="0.8, or the threshold of --bands and --rows",
    help="Lowest similarity of a pair.",
)
@shared.measure_option("Goal")
@shared.setting("Goal", "--within", kind=float)
@shared.setting("Goal", "--power", kind=float)
@shared.setting("Goal", "--embed", metavar="NAME")
@shared.setting("Goal", "--bag")
@shared.setting("Goal", "--weights", metavar="idf|FILE")
@shared.setting("Goal", "--recall", kind=float)
@shared.setting("Goal", "--chooser")
@option("Goal", "--bands", type=int, metavar="NUMBER", help="Explain this number of bands.")
@option("Goal", "--rows", type=int, metavar="NUMBER", help="Explain this number of rows per band.")
@option(
    "Goal",
    "--at",
    type=float,
    multiple=True,
    metavar="NUMBER",
    help="Explain the best setting at this similarity, or distance; may be repeated.",
)
@shared.setting("Goal", "--sample", kind=int)
@shared.setting("Goal", "--documents", kind=int)
@shared.source_options
@shared.text_options
@shared.common_option
@shared.signature_options
@option(
    "Output",
    "--plot",
    metavar="FILE",
    type=shared.File,
    help="Draw the curve to this file: .svg, .png or .html.",
)
@shared.skipped_option
@shared.json_option
@shared.quiet_option
@shared.force_option
@shared.run_options
def tune(
    source: tuple[str, ...],
    threshold: float | None,
    at: tuple[float, ...],
    plot: Path | None,
    skipped: Path | None,
    as_json: bool,
    quiet: bool,
    force: bool,
    **options: Any,
) -> int:
    """Choose bands and rows for a goal, and predict what they will find and cost.

    With a SOURCE, some of its documents are searched exactly among all others, and the predictions
    are about this corpus. Without one they come from the mathematics alone. With --bands and
    --rows, this setting is explained.

    \b
    nearly tune corpus.parquet --threshold 0.8 --recall 0.99
    nearly tune --threshold 0.8 --recall 0.99
    nearly tune --bands 20 --rows 5 --plot curve.svg
    nearly tune --threshold 0.7 --permutations 100 --chooser nearest
    """
    from nearly import api

    _check_at(at, options["within"])
    _check_outputs(plot, skipped, source, force=force)
    arguments = shared.library_arguments(options) | _threshold(threshold, options)
    report.announce_terminal(source)
    with watched(quiet=quiet) as progress:
        given = shared.given_source(source) if source else None
        advice = api.tune(given, progress=progress, **arguments)
    _write(advice, plot, skipped, force=force)
    _show(advice, _at(advice, at), options["chooser"], as_json=as_json)
    _warn(advice)
    if not source:
        return exit_code.CLEAN
    if not quiet:
        for line in _read(advice):
            say(line)
    report.say_skipped(advice.skipped, advice.statistics["skipped"], skipped)
    return report.ending(advice.statistics["skipped"])


def _threshold(given: float | None, options: dict[str, Any]) -> dict[str, float]:
    """What was given; or of bands and rows their own threshold; or nothing, for the default."""
    if given is not None:
        return {"threshold": given}
    bands, rows = options["bands"], options["rows"]
    if bands is None or rows is None or min(bands, rows) < 1:
        return {}
    return {"threshold": approximate_threshold(Banding(bands, rows))}


def _check_at(given: Sequence[float], within: float | None) -> None:
    """Refuse what no pair can be at."""
    for at in given:
        if at < 0 or (within is None and at > 1):
            meaning = "similarity runs from 0 to 1" if within is None else "a distance is 0 or more"
            raise SettingsError(f"--at is {at!r}; {meaning}: give another number")


def _at(advice: Advice, given: Sequence[float]) -> Sequence[float]:
    """Similarities, or how similar documents at some distances are."""
    far, within = advice.best.banding.hashing.far, advice.settings.within
    if far is None or within is None:
        return given or AT
    distances = given or [times * within for times in APART]
    return [1 - distance / far for distance in distances if distance <= far]


def _check_outputs(
    plot: Path | None, skipped: Path | None, source: Sequence[str], *, force: bool
) -> None:
    from nearly.sinks import check_different, check_place

    check_different(plot, skipped)
    if plot is not None:
        from nearly.drawing.curve import check_format

        check_format(plot)
        check_place(plot, force=force)
    report.check_outputs(skipped, force=force, engine=ENGINES["local"], inputs=source)


def _write(advice: Advice, plot: Path | None, skipped: Path | None, *, force: bool) -> None:
    from nearly.drawing.curve import check_format, draw_curve, render
    from nearly.sinks import Outputs

    with Outputs(force=force) as outputs:
        report.write_tables(outputs, (advice.skipped, skipped), engine=ENGINES["local"])
        if plot is None:
            return
        # What nobody has measured is not drawn: without a corpus there is no histogram.
        histogram = advice.similarities if advice.sampled is not None else None
        drawing = draw_curve(advice.best.banding, advice.threshold, histogram)
        with outputs.open(plot) as file:
            file.write(render(drawing, check_format(plot)))


def _show(advice: Advice, similarities: Sequence[float], chooser: str, *, as_json: bool) -> None:
    from nearly.advice.advice import points

    at = points(advice.best.banding, similarities)
    if as_json:
        report.print_json(advice.to_dict() | {"points": at})
        return
    from nearly.cli.curve import curve_lines

    far = advice.best.banding.hashing.far
    for line in (
        *_choice_lines(advice),
        *_usual_lines(advice, chooser),
        "",
        *_valley_lines(advice),
        *_explanation_lines(advice.best),
        "",
        *_point_lines(at, "similarity" if far is None else "distance"),
        "",
        *curve_lines(
            advice.best.banding,
            advice.threshold,
            advice.similarities,
            is_assumed=advice.sampled is None,
        ),
    ):
        click.echo(line)


def _choice_lines(advice: Advice) -> Iterator[str]:
    """The table of settings."""
    if advice.pairs is not None:
        yield (
            f"about {advice.pairs.value:,.0f} pairs ({advice.pairs.low:,.0f} to "
            f"{advice.pairs.high:,.0f}) from {advice.threshold:.4g} upwards in "
            f"{advice.documents:,} distinct documents, of which {advice.sampled:,} were searched"
        )
    else:
        yield f"for {advice.documents:,} documents about which nothing is known"
    yield ""
    yield (
        f"{'bands x rows':<14}{'at threshold':>13}{'recall':>27}{'candidates':>16}"
        f"{'wasted':>8}{'time':>9}{'memory':>10}"
    )
    for choice in advice.choices:
        yield _choice_line(choice)


def _usual_lines(advice: Advice, chooser: str) -> Iterator[str]:
    """Why `find` takes other bands, where it does."""
    best, usual, settings = advice.best.banding, advice.usual, advice.settings
    if settings.bands is not None or (best.bands, best.rows) == (usual.bands, usual.rows):
        return
    corpus = f"{advice.documents:,} documents" if advice.sampled is None else "this corpus"
    why = {
        "goal": f"is the cheapest for {corpus}",
        "area": "has the smallest sum of error areas",
        "nearest": "follows the rule of the papers",
    }[chooser]
    yield ""
    yield (
        f"where nearly find hashes, it takes {usual.bands} x {usual.rows}: the cheapest for a "
        f"recall of {settings.recall:g} on 1,000,000 documents"
    )
    yield (
        "of which nothing is known, for it chooses before it reads; "
        f"{best.bands} x {best.rows} {why}."
    )
    yield f"--bands {best.bands} --rows {best.rows} makes it take that."


def _valley_lines(advice: Advice) -> Iterator[str]:
    """Pairs by similarity, and where a threshold would cut between near-copies and the rest."""
    if advice.bars is None:
        return
    bars, valley = advice.bars, advice.valley
    first = LOWEST - 1
    most = math.log1p(max(bars[first:]))
    for number, pairs in enumerate(bars[first:], first):
        low = number / BARS
        mark = valley is not None and valley.low <= low < valley.high
        length = math.ceil(_BAR_WIDTH * math.log1p(pairs) / most) if pairs and most else 0
        tail = "  < valley" if mark else ""
        yield f"{low:.2f} to {low + 1 / BARS:.2f} {pairs:>14,.0f}  {'█' * length}{tail}"
    yield ""
    if valley is None:
        yield (
            "no valley between 0.30 and 0.95 with a hill of pairs on both sides: "
            "no threshold is proposed"
        )
    else:
        yield (
            f"proposed threshold {valley.threshold:g}: fewest pairs lie from {valley.low:g} to "
            f"{valley.high:g}, between strangers below and near-copies above"
        )
    yield ""


def _choice_line(choice: Choice) -> str:
    banding, candidates = choice.banding, choice.candidates.value
    wasted = f"{choice.wasted / candidates:.0%}" if candidates else "-"
    memory = "-" if choice.memory is None else f"{choice.memory / 2**20:,.0f} MiB"
    return (
        f"{f'{banding.bands} x {banding.rows}':<14}{banding.recall(choice.threshold):>13.2%}"
        f"{_interval(choice.recall):>27}{candidates:>16,.0f}{wasted:>8}"
        f"{f'{choice.seconds:,.1f} s':>9}{memory:>10}"
    )


def _interval(recall: Estimate) -> str:
    if recall.low == recall.high:
        return f"{recall.value:.2%}"
    return f"{recall.value:.2%} ({recall.low:.1%} to {recall.high:.1%})"


def _explanation_lines(choice: Choice) -> Iterator[str]:
    from nearly.advice.advice import explain

    facts = explain(choice.banding, choice.threshold)
    yield (
        f"{count(facts['bands'], 'band')} of {count(facts['rows'], 'row')}: "
        f"{count(facts['permutations'], 'permutation')}, "
        f"of which {facts['agreement']} must agree before a candidate is verified"
    )
    sensitivity = ", ".join(f"{number:.4g}" for number in facts["row_sensitivity"])
    far = choice.banding.hashing.far
    meaning = ", a distance being 1 - similarity" if far is None else ""
    yield f"a row is ({sensitivity})-sensitive: (d1, d2, p1, p2){meaning}"
    if far is not None:
        yield f"below, a distance d counts as a similarity of 1 - d / {far:g}, or 0"
    for name, key in (
        ("threshold", "threshold"),
        ("  by (1/b)^(1/r)", "approximate_threshold"),
        ("  half are candidates", "half_point"),
        ("  steepest", "steepest_point"),
        ("recall at the threshold", "recall_at_threshold"),
        ("false-positive area", "false_positive_area"),
        ("false-negative area", "false_negative_area"),
    ):
        yield f"{name:<26}{facts[key]:.4f}"


def _point_lines(at: Sequence[dict[str, float]], name: str) -> Iterator[str]:
    yield f"{name:<12}{'candidate':>12}{'meetings':>12}{'verified':>12}{'recall':>12}"
    for point in at:
        yield (
            f"{f'{point[name]:.6g}':<12}{point['candidate']:>12.4%}{point['meetings']:>12.4g}"
            f"{point['verified']:>12.4%}{point['recall']:>12.4%}"
        )


def _warn(advice: Advice) -> None:
    """Says when a setting misses the recall that is the goal."""
    recall = advice.best.banding.recall(advice.threshold)
    if recall < advice.settings.recall:
        say(
            f"these bands and rows find only {recall:.1%} of the pairs at {advice.threshold:.4g}; "
            f"--chooser goal finds at least {advice.settings.recall:.4g} of them"
        )


def _read(advice: Advice) -> Iterator[str]:
    statistics = advice.statistics
    line = count(statistics["documents"], "document")
    if statistics["copies"]:
        line += f"; {statistics['copies']:,} exact copies are found without a search"
    yield line
    dropped = statistics.get("ignored"), statistics.get("common")
    yield from report.dropped_lines(*dropped, advice.settings)
    if statistics["method"] == "exact":
        yield f"nearly find would need no bands here: it joins exactly, for {statistics['why']}"
