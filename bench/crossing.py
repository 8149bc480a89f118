"""Where does hashing overtake the exact join? Over documents, their length, and the threshold.

Both methods run on growing parts of generated corpora of several lengths, by characters and by
words, in turn. Writes results/crossing.json and the drawing docs/crossing.svg.

    python bench/crossing.py [--most 512000]
"""

import argparse
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import harness
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

LENGTHS = (80, 320, 1280)  # bytes of text, about
THRESHOLDS = (0.5, 0.7, 0.8, 0.9)
FEWEST = 2_000
REPEATS = 3
#: A method that took this many times the other's time is not tried on more documents.
HOPELESS = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--most", type=int, default=512_000, help="documents of the largest part")
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for length in LENGTHS:
            path = corpus_of_length(length, asked.most * 320 // max(length, 320), Path(folder))
            for unit, k in (("char", 5), ("word", 3)):
                for threshold in THRESHOLDS:
                    rows += measured(path, length, unit, k, threshold)
    harness.save("crossing", {"rows": rows})
    (harness.BENCH.parent / "docs" / "crossing.svg").write_bytes(drawn(rows))


def corpus_of_length(length: int, documents: int, folder: Path) -> Path:
    """Texts of the generator, cut short or joined, so that they have about this length."""
    count = documents * max(1, length // 320)
    texts = pq.read_table(harness.generated(count)[0])["text"].cast(pa.large_string())
    if length < 320:
        texts = pc.utf8_slice_codeunits(texts, 0, length)
    else:
        step = length // 320
        parts = [texts.combine_chunks()[i::step] for i in range(step)]
        texts = pc.binary_join_element_wise(*parts, pa.scalar(" ", pa.large_string()))
    path = folder / f"{length}.parquet"
    pq.write_table(pa.table({"text": texts}), path)
    return path


def median_seconds(part: pa.Table, settings: dict[str, Any]) -> float:
    import nearly

    runs = [
        harness.timed(lambda: nearly.find(part, text="text", **settings)) for _ in range(REPEATS)
    ]
    return sorted(seconds for seconds, _ in runs)[REPEATS // 2]


def measured(path: Path, length: int, unit: str, k: int, threshold: float) -> list[dict[str, Any]]:
    texts = pq.read_table(path)
    rows = []
    documents = FEWEST
    while documents <= texts.num_rows:
        part = texts.slice(0, documents)
        settings = {"unit": unit, "k": k, "threshold": threshold, "raw": True}
        row: dict[str, Any] = {"length": length, "documents": documents, **settings}
        for method in ("exact", "lsh"):
            row[method] = median_seconds(part, settings | {"method": method})
        row["bytes"] = part.nbytes
        rows.append(row)
        times = f"exact {row['exact']:.3f} s  lsh {row['lsh']:.3f} s"
        print(f"{unit} {length:>5} B  t={threshold}  {documents:>8,}  {times}")
        if row["exact"] > HOPELESS * row["lsh"]:
            break
        documents *= 4
    return rows


PANEL_WIDTH, PANEL_HEIGHT, LEFT, ABOVE, BELOW = 420, 300, 20, 50, 40
COLOURS = dict(zip(THRESHOLDS, ("#b3541e", "#c9952b", "#14538f", "#5b8c5a"), strict=True))
RATIOS = {16: "exact 16 times slower", 1: "equal", 1 / 16: "exact 16 times faster"}


def drawn(rows: list[dict[str, Any]]) -> bytes:
    """How much longer the join takes, over documents; both axes are logarithmic."""
    from nearly.drawing.curve import Drawing, render

    most = max(row["documents"] for row in rows)
    panels = [(unit, length) for unit in ("char", "word") for length in LENGTHS]
    shapes = [
        shape
        for number, (unit, length) in enumerate(panels)
        for shape in panel(
            number,
            f"{unit}s, {length:,} bytes a document",
            [row for row in rows if (row["unit"], row["length"]) == (unit, length)],
            most,
        )
    ]
    size = PANEL_WIDTH * len(LENGTHS), 2 * PANEL_HEIGHT
    return render(Drawing("The exact join's time against hashing's", shapes, *size), "svg")


def panel(number: int, title: str, rows: list[dict[str, Any]], most: int) -> Iterator[Any]:
    from nearly.drawing.curve import FAINT, Label, Line

    left = number % len(LENGTHS) * PANEL_WIDTH + LEFT
    top = number // len(LENGTHS) * PANEL_HEIGHT + ABOVE

    def place(documents: float, ratio: float) -> tuple[float, float]:
        x = math.log(documents / FEWEST) / math.log(most / FEWEST)
        y = 0.5 - math.log2(min(max(ratio, 1 / 16), 16)) / 8
        width, height = PANEL_WIDTH - LEFT - 50, PANEL_HEIGHT - ABOVE - BELOW
        return round(left + x * width, 1), round(top + y * height, 1)

    yield Label((left, top - 22), title, size=14)
    for ratio, words in RATIOS.items():
        start, end = place(FEWEST, ratio), place(most, ratio)
        yield Line([start, end], FAINT, is_dashed=ratio != 1)
        yield Label((start[0], start[1] - 4), words, FAINT, 11)
    for documents, anchor in ((FEWEST, "start"), (most, "end")):
        x, y = place(documents, 1 / 16)
        yield Label((x, y + 16), f"{documents:,} documents", FAINT, 11, anchor)
    for threshold, colour in COLOURS.items():
        chosen = [row for row in rows if row["threshold"] == threshold]
        points = [place(row["documents"], row["exact"] / row["lsh"]) for row in chosen]
        yield Line(points, colour, 2)
        yield Label((points[-1][0] + 4, points[-1][1] + 4), str(threshold), colour, 11)


if __name__ == "__main__":
    main()
