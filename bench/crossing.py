"""Where does hashing overtake the exact join? Over documents, their length, and the threshold.

Both methods run on growing parts of generated corpora of several lengths, by characters and by
words, in turn. Writes results/crossing.json and the drawing docs/crossing.svg.

    python bench/crossing.py [--most 512000]
"""

import argparse
import math
import tempfile
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
    (harness.BENCH.parent / "docs" / "crossing.svg").write_text(drawn(rows))


def corpus_of_length(length: int, documents: int, folder: Path) -> Path:
    """Texts of the generator, cut short or joined, so that they have about this length."""
    count = documents * max(1, length // 320)
    texts = pq.read_table(harness.generated(count)[0])["text"].cast(pa.large_string())
    if length < 320:
        texts = pc.utf8_slice_codeunits(texts, 0, length)
    else:
        step = length // 320
        parts = [texts.combine_chunks()[i::step] for i in range(step)]
        texts = pc.binary_join_element_wise(*parts, " ")
    path = folder / f"{length}.parquet"
    pq.write_table(pa.table({"text": texts}), path)
    return path


def measured(path: Path, length: int, unit: str, k: int, threshold: float) -> list[dict[str, Any]]:
    import nearly

    texts = pq.read_table(path)
    rows = []
    documents = FEWEST
    while documents <= texts.num_rows:
        part = texts.slice(0, documents)
        settings = {"unit": unit, "k": k, "threshold": threshold, "raw": True}
        row: dict[str, Any] = {"length": length, "documents": documents, **settings}
        for method in ("exact", "lsh"):
            times = [
                harness.timed(lambda m=method: nearly.find(part, text="text", method=m, **settings))
                for _ in range(REPEATS)
            ]
            row[method] = sorted(seconds for seconds, _ in times)[REPEATS // 2]
        row["bytes"] = part.nbytes
        rows.append(row)
        print(
            f"{unit} {length:>5} B  t={threshold}  {documents:>8,}  exact {row['exact']:.3f} s  lsh {row['lsh']:.3f} s"
        )
        if row["exact"] > HOPELESS * row["lsh"]:
            break
        documents *= 4
    return rows


def drawn(rows: list[dict[str, Any]]) -> str:
    """Ratio of the times over documents, both logarithmic: above the line hashing is faster."""
    width, height, left, top = 420, 300, 60, 40
    panels = [(unit, length) for unit in ("char", "word") for length in LENGTHS]
    most = max(row["documents"] for row in rows)

    def place(panel: int, documents: float, ratio: float) -> tuple[float, float]:
        x = math.log(documents / FEWEST) / math.log(most / FEWEST)
        y = 0.5 - math.log2(min(max(ratio, 1 / 16), 16)) / 8
        column, line = panel % len(LENGTHS), panel // len(LENGTHS)
        return (
            column * width + left + x * (width - left - 20),
            line * height + top + y * (height - top - 40),
        )

    shapes = []
    colours = dict(zip(THRESHOLDS, ("#b3541e", "#d9a441", "#14538f", "#5b8c5a"), strict=True))
    for panel, (unit, length) in enumerate(panels):
        (x0, y0), (x1, _) = place(panel, FEWEST, 1), place(panel, most, 1)
        shapes.append(
            f'<line x1="{x0:.0f}" y1="{y0:.0f}" x2="{x1:.0f}" y2="{y0:.0f}" stroke="#8a94a0"/>'
        )
        title = f"{unit}s, {length} bytes a document"
        shapes.append(
            f'<text x="{x0:.0f}" y="{y0 - (height - top - 40) / 2 - 12:.0f}" font-weight="bold">{title}</text>'
        )
        for ratio, words in ((16, "exact 16x slower"), (1, "equal"), (1 / 16, "exact 16x faster")):
            _, y = place(panel, FEWEST, ratio)
            shapes.append(f'<text x="{x0:.0f}" y="{y - 4:.0f}" fill="#8a94a0">{words}</text>')
        for documents in (FEWEST, most):
            x, y = place(panel, documents, 1 / 16)
            anchor = "start" if documents == FEWEST else "end"
            shapes.append(
                f'<text x="{x:.0f}" y="{y + 16:.0f}" text-anchor="{anchor}">{documents:,}</text>'
            )
        for threshold, colour in colours.items():
            chosen = [
                r
                for r in rows
                if (r["unit"], r["length"], r["threshold"]) == (unit, length, threshold)
            ]
            points = [place(panel, r["documents"], r["exact"] / r["lsh"]) for r in chosen]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            shapes.append(
                f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
            )
            x, y = points[-1]
            shapes.append(f'<text x="{x + 3:.0f}" y="{y:.0f}" fill="{colour}">{threshold}</text>')
    size = f'width="{width * len(LENGTHS)}" height="{height * 2}"'
    font = 'font-family="sans-serif" font-size="11" fill="#1f2933"'
    body = "\n".join(shapes)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>\n<rect width="100%" height="100%" fill="#ffffff"/>\n{body}\n</svg>\n'


if __name__ == "__main__":
    main()
