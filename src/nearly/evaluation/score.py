"""Measures for reading: as lines for a terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from nearly.evaluation.agreement import Bar, Cut, Evaluation, RecallBar

__all__ = ["lines"]

#: What stands beside the bars of a chart.
_MARGIN: Final = 40
_WIDEST: Final = 60


def lines(measured: Evaluation) -> Iterator[str]:
    """A table of all measures; then the charts for which there are similarities."""
    yield from _totals(measured)
    if any(bar.true or bar.false for bar in measured.bars):
        yield from ("", _key("Found pairs by similarity", "true", "false"), *_bars(measured.bars))
    if measured.recall_bars:
        yield from ("", _key("True pairs by similarity", "found", "missed"))
        yield from _recall_bars(measured.recall_bars)
    if measured.cuts:
        yield from ("", *_sweep(measured.cuts))


def _totals(measured: Evaluation) -> Iterator[str]:
    pairs, clusters = measured.pairs, measured.clusters
    yield f"{measured.documents:,} documents"
    yield f"{'':<14}{'found':>13}{'truth':>13}{'both':>13}"
    yield f"{'pairs':<14}{pairs.found:>13,}{pairs.gold:>13,}{pairs.true:>13,}"
    yield f"{'clusters':<14}{clusters.found:>13,}{clusters.gold:>13,}"
    yield ""
    yield f"{'':<14}{'precision':>13}{'recall':>13}{'F1':>13}"
    yield f"{'by pair':<14}" + _shares(pairs.precision, pairs.recall, pairs.f1)
    yield f"{'B-cubed':<14}" + _shares(clusters.precision, clusters.recall, clusters.f1)
    yield f"{'adjusted Rand':<14}{clusters.adjusted_rand:>13.4f}"


def _shares(*shares: float | None) -> str:
    return "".join(f"{'-':>13}" if share is None else f"{share:>13.4f}" for share in shares)


def _key(title: str, full: str, light: str) -> str:
    signs = _signs()
    return f"{title}: {signs[0]} {full}, {signs[1]} {light}"


def _bars(bars: Sequence[Bar]) -> Iterator[str]:
    highest = max(bar.true + bar.false for bar in bars)
    for bar in bars:
        drawn = _bar(bar.true, bar.false, highest)
        yield f"{bar.low:.2f} to {bar.high:.2f}{bar.true:>12,}{bar.false:>12,}  {drawn}"


def _recall_bars(bars: Sequence[RecallBar]) -> Iterator[str]:
    highest = max(bar.gold for bar in bars)
    for bar in bars:
        drawn = _bar(bar.found, bar.gold - bar.found, highest)
        recall = "-" if bar.recall is None else f"{bar.recall:.4f}"
        yield f"{bar.low:.2f} to {bar.high:.2f}{bar.gold:>12,}{recall:>12}  {drawn}"


def _bar(full: int, light: int, highest: int) -> str:
    """Both parts to scale; one that is not empty shows at least one sign."""
    width = min(max(shutil.get_terminal_size().columns - _MARGIN, 10), _WIDEST)
    lengths = (max(round(part * width / highest), part > 0) for part in (full, light))
    return "".join(sign * length for sign, length in zip(_signs(), lengths, strict=True))


def _signs() -> str:
    """What a full and a light bar are made of, if need be without Unicode."""
    try:
        "█░".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return "#."
    return "█░"


def _sweep(cuts: Sequence[Cut]) -> Iterator[str]:
    best = max((cut.pairs.f1 or 0.0 for cut in cuts), default=0.0)
    yield f"{'threshold':<14}{'found':>13}{'precision':>13}{'recall':>13}{'F1':>13}"
    for cut in cuts:
        pairs = cut.pairs
        mark = "  best" if pairs.f1 == best and best else ""
        shares = _shares(pairs.precision, pairs.recall, pairs.f1)
        yield f"{cut.threshold:<14g}{pairs.found:>13,}{shares}{mark}"
