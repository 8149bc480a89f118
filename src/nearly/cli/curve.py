"""The curve of a setting in a terminal, drawn with blocks above the shares of all pairs."""

import math
from collections.abc import Iterator

from nearly.tuning.banding import Banding
from nearly.tuning.hashing import Closenesses

__all__ = ["curve_lines"]

HEIGHT, WIDTH = 10, 60
FOUND, WASTED, MISSED = "█", "▒", "░"
BARS = " ▁▂▃▄▅▆▇█"


def curve_lines(
    banding: Banding, threshold: float, similarities: Closenesses, *, is_assumed: bool
) -> Iterator[str]:
    """Lines of a plot: the chance of becoming a candidate by similarity, and the pairs below."""
    columns = [(i + 0.5) / WIDTH for i in range(WIDTH)]
    chances = [banding.family.probability(s) for s in columns]
    for row in range(HEIGHT, 0, -1):
        label = {HEIGHT: "1.0", HEIGHT // 2: "0.5"}.get(row, "")
        cells = (
            _cell(s >= threshold, chance * HEIGHT > row - 0.5)
            for s, chance in zip(columns, chances, strict=True)
        )
        yield f"{label:>8} ┤{''.join(cells)}"
    yield f"{'0.0':>8} ┼{_axis(threshold)}"
    scale = "(logarithmic; assumed)" if is_assumed else "(logarithmic)"
    yield f"{'pairs':>8}  {''.join(_bars(similarities))}  {scale}"
    ticks = "".join(f"{tenth / 10:<{WIDTH // 5}g}" for tenth in range(0, 10, 2))
    yield f"{'':>8}  {ticks}1   similarity"
    yield f"{'':>8}  {FOUND} found  {WASTED} wasted  {MISSED} missed  ┴ threshold"


def _cell(is_sought: bool, is_found: bool) -> str:
    if is_found:
        return FOUND if is_sought else WASTED
    return MISSED if is_sought else " "


def _axis(threshold: float) -> str:
    place = min(WIDTH - 1, int(threshold * WIDTH))
    return "─" * place + "┴" + "─" * (WIDTH - 1 - place)


def _bars(similarities: Closenesses) -> Iterator[str]:
    """One block per column; the highest is all pairs, an empty one none."""
    shares = [0.0] * WIDTH
    for similarity, share in similarities:
        shares[min(WIDTH - 1, int(similarity * WIDTH))] += share
    least = min((math.log10(share) for share in shares if share > 0), default=0.0)
    for share in shares:
        height = 0.0 if share == 0 else 1 - math.log10(share) / (least - 0.5)
        yield BARS[math.ceil(min(1.0, height) * (len(BARS) - 1))]
