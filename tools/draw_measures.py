"""Draw docs/measures.svg: what each measure says of the same five texts.

    python tools/draw_measures.py

All values are those that `nearly.find` gives. A test holds the picture to what this draws.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import inf
from pathlib import Path
from typing import Any

import nearly
from nearly.drawing.curve import Drawing, Label, Polygon, Shape, render

PATH = Path(__file__).parents[1] / "docs" / "measures.svg"

TEXTS = {
    "a": "the old bridge is closed today",
    "b": "the old bridge is closed Friday",
    "c": "closed today is the old bridge",
    "d": "the old bridge is closed today the old bridge is closed today",
    "e": "bridge is closed today",
}
WORDS: Mapping[str, Any] = {"unit": "word", "k": 1}
#: Farther apart than this is not shown.
FAR = 6
#: What is asked of `find`, by what a panel is called.
PANELS: Mapping[str, Mapping[str, Any]] = {
    "shingles of 5 characters": {"k": 5},
    "shingles of 2 words": {"unit": "word", "k": 2},
    "words": WORDS,
    "bags of words": {**WORDS, "bag": True},
    "words by idf": {**WORDS, "weights": "idf"},
    "containment of words": {**WORDS, "measure": "containment"},
    "edit distance as a share": {"measure": "edit"},
    "cosine of word counts": {"measure": "cosine"},
    "euclidean, of word counts": {"measure": "euclidean", "within": FAR},
    "manhattan, of word counts": {"measure": "manhattan", "within": FAR},
    "minkowski 3, of word counts": {"measure": "minkowski", "power": 3, "within": FAR},
    "hamming, of word counts": {"measure": "hamming", "within": FAR},
}
#: From here on a pair would be found: a similarity, or a distance.
THRESHOLD, WITHIN = 0.8, 2.0

CELL, LEFT, GAP, ABOVE, HEAD, ACROSS = 46, 34, 40, 150, 40, 4
INK, FAINT, PALE, FOUND = "#1f2933", "#8a94a0", "#eef1f4", "#9fd0b8"


def values_of(asked: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """How similar, or how far apart, every two are that have anything in common."""
    given: Any = TEXTS
    how = {"method": "exact", "all_pairs": True, **asked}
    if "within" not in how:
        how["threshold"] = 0.001
    if how.get("measure", "edit") not in ("edit", "containment"):
        given, how["vector"] = word_counts(), "counts"
    pairs = nearly.find(given, **how).pairs
    columns = (pairs.column(name).to_pylist() for name in ("id_a", "id_b", pairs.column_names[2]))
    return {(a, b): value for a, b, value in zip(*columns, strict=True)}


def word_counts() -> Any:
    """How often each word of all texts stands in each of them, as vectors."""
    import pyarrow as pa

    texts = [text.lower().split() for text in TEXTS.values()]
    words = sorted({word for text in texts for word in text})
    counts = [[float(text.count(word)) for word in words] for text in texts]
    return pa.table({"id": list(TEXTS), "counts": counts})


def draw() -> Drawing:
    """The texts, and a panel for each measure."""
    width = LEFT + ACROSS * (4 * CELL + LEFT + GAP)
    rows = -(-len(PANELS) // ACROSS)
    height = ABOVE + rows * (4 * CELL + HEAD + GAP)
    shapes: list[Shape] = [*_texts()]
    for place, (title, asked) in enumerate(PANELS.items()):
        row, column = divmod(place, ACROSS)
        left = LEFT + column * (4 * CELL + LEFT + GAP) + LEFT
        top = ABOVE + row * (4 * CELL + HEAD + GAP)
        shapes += _panel(title, values_of(asked), "within" in asked, left, top)
    return Drawing("What each measure says of five texts", shapes, width, height)


def _texts() -> Iterator[Shape]:
    for place, (name, text) in enumerate(TEXTS.items()):
        yield Label((LEFT, 28 + 20 * place), name, INK, 14)
        yield Label((LEFT + 24, 28 + 20 * place), text, INK, 14)
    said = f"Coloured: found at {THRESHOLD} and above, or within a distance of {WITHIN:g}"
    yield Label((LEFT + 480, 28), said, FAINT, 13)


def _panel(
    title: str,
    values: Mapping[tuple[str, str], float],
    is_distance: bool,
    left: float,
    top: float,
) -> Iterator[Shape]:
    yield Label((left, top), title, INK, 14)
    names = list(TEXTS)
    for i, j in combinations(range(len(names)), 2):
        value = values.get((names[i], names[j]), inf if is_distance else 0.0)
        x, y = left + i * CELL, top + 10 + (j - 1) * CELL
        is_found = value <= WITHIN if is_distance else value >= THRESHOLD
        colour = FOUND if is_found else PALE
        yield _square(x, y, colour)
        written = f"{value:.2f}" if value < inf else f"> {FAR}"
        yield Label((x + CELL / 2 - 1, y + CELL / 2 + 4), written, INK, 12, "middle")
    yield from _names(names, left, top + 10)


def _names(names: Sequence[str], left: float, top: float) -> Iterator[Shape]:
    for place, name in enumerate(names[1:]):
        yield Label((left - 12, top + place * CELL + CELL / 2 + 4), name, FAINT, 12, "middle")
    for place, name in enumerate(names[:-1]):
        yield Label(
            (left + place * CELL + CELL / 2, top + 4 * CELL + 14), name, FAINT, 12, "middle"
        )


def _square(x: float, y: float, colour: str) -> Polygon:
    side = CELL - 2
    return Polygon([(x, y), (x + side, y), (x + side, y + side), (x, y + side)], colour)


if __name__ == "__main__":
    PATH.write_bytes(render(draw(), "svg"))
