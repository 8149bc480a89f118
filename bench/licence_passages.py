"""Which licence texts stand in which files: licences against rules, by passages.

    python bench/licence_passages.py [--data FOLDER]

FOLDER has licences/docs.parquet (id, text, kind) and licences/gold_licence_text.csv (id_a, a file;
id_b, a licence; containment_w3, the part of the smaller one's word 3-shingles that the other has).
Nearly a third of the labelled pairs share nothing, so pairs count from a containment on. A pair is
found if passages of the licence cover half of the smaller text, or more. Text that stands in many
files is told with all its places, and counts too.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from harness import parser, save, show, timed
from passages import covered

import nearly

LEAST = 8
BANDS = ((0.9, 1.01), (0.8, 0.9), (0.5, 0.8))
Spans = dict[tuple[str, str], list[tuple[int, int]]]


def side(table: pa.Table, licences: bool) -> pa.Table:
    """The licences, or the files."""
    is_licence = pc.equal(table["kind"], "licence")
    chosen = is_licence if licences else pc.invert(is_licence)
    return table.filter(chosen).select(["id", "text"])


def spans(found: Any, pairs: set[tuple[str, str]]) -> tuple[Spans, Spans]:
    """Characters of files, and of licences, that the two of a labelled pair share."""
    files: Spans = defaultdict(list)
    licences: Spans = defaultdict(list)
    for row in found.passages.to_pylist():
        pair = (row["id_b"], row["id_a"])
        if pair in pairs:
            licences[pair].append((row["start_a"], row["end_a"]))
            files[pair].append((row["start_b"], row["end_b"]))
    crowds: defaultdict[int, dict[str, dict[str, list[tuple[int, int]]]]] = defaultdict(
        lambda: {"source": defaultdict(list), "against": defaultdict(list)}
    )
    for row in found.repeats.to_pylist():
        crowds[row["passage"]][row["side"]][row["id"]].append((row["start"], row["end"]))
    of_file: defaultdict[str, list[str]] = defaultdict(list)
    for file, licence in pairs:
        of_file[file].append(licence)
    for crowd in crowds.values():
        for file, places in crowd["against"].items():
            for licence in of_file[file]:
                if licence in crowd["source"]:
                    files[file, licence] += places
                    licences[file, licence] += crowd["source"][licence]
    return files, licences


def share(intervals: Iterable[tuple[int, int]], length: int) -> float:
    return covered(intervals) / max(1, length)


def main() -> None:
    chosen = parser(__doc__.partition("\n")[0]).parse_args()
    folder = chosen.data / "licences"
    table = pq.read_table(folder / "docs.parquet", columns=["id", "text", "kind"])
    sizes = dict(zip(table["id"].to_pylist(), map(len, table["text"].to_pylist()), strict=True))
    labels = list(csv.DictReader((folder / "gold_licence_text.csv").open()))
    gold = {(row["id_a"], row["id_b"]): float(row["containment_w3"]) for row in labels}
    one, other = side(table, True), side(table, False)
    seconds, found = timed(lambda: nearly.passages(one, other, id="id", text="text", least=LEAST))
    files, licences = spans(found, set(gold))
    rows = []
    for low, high in BANDS:
        pairs = [pair for pair, value in gold.items() if low <= value < high]
        best = [
            max(
                share(files.get(pair, []), sizes[pair[0]]),
                share(licences.get(pair, []), sizes[pair[1]]),
            )
            for pair in pairs
        ]
        hits = sum(value >= 0.5 for value in best)
        rows.append((f"{low} to {min(high, 1.0)}", len(pairs), hits, hits / max(1, len(pairs))))
    show(("containment", "pairs", "found", "share"), rows)
    unrelated = [pair for pair, value in gold.items() if value == 0]
    false = sum(share(files.get(pair, []), sizes[pair[0]]) >= 0.5 for pair in unrelated)
    megabytes = sum(map(len, table["text"].to_pylist())) / 1e6
    print(f"{megabytes:.1f} MB in {seconds:.1f} s; of {len(unrelated)} that share nothing: {false}")
    bands = [dict(zip(("band", "pairs", "found", "share"), row, strict=True)) for row in rows]
    told = {"seconds": seconds, "megabytes": megabytes, "bands": bands}
    save("licence_passages", {**told, "unrelated": len(unrelated), "unrelated_found": false})


if __name__ == "__main__":
    main()
