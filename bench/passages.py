"""Passages of PAN 2013's text alignment: precision, recall, granularity and plagdet by kind.

    python bench/passages.py FOLDER

FOLDER has PART.docs.parquet (id, text), PART.labels.csv (id_a, id_b, class) and PART.spans.csv
(id_a, id_b, this_offset, this_length, source_offset, source_length). The definitions are the
official ones, macro-averaged: Potthast and others, "An evaluation framework for plagiarism
detection", 2010.
"""

import argparse
import csv
import math
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import nearly
from nearly.arrays import string_array
from nearly.passage.search import align_pairs
from nearly.settings import PassageSettings

Span = tuple[int, int, int, int]  # from and to in the suspicious document, and in the source
Score = tuple[float, float, float, float]


def covered(intervals: Iterable[tuple[int, int]]) -> int:
    """Characters in the union."""
    total, reached = 0, -1
    for start, end in sorted(intervals):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


def met(one: Span, others: Sequence[Span]) -> list[Span]:
    """Those that overlap in both documents."""
    return [
        other
        for other in others
        if other[0] < one[1] and one[0] < other[1] and other[2] < one[3] and one[2] < other[3]
    ]


def share(one: Span, others: Sequence[Span]) -> float:
    """The part of the characters of both sides that the others cover."""
    both = met(one, others)
    sides = ((max(one[i], o[i]), min(one[i + 1], o[i + 1])) for i in (0, 2) for o in both)
    left = list(sides)
    half = len(both)
    total = (one[1] - one[0]) + (one[3] - one[2])
    return (covered(left[:half]) + covered(left[half:])) / total


def plagdet(cases: Sequence[tuple[Sequence[Span], Sequence[Span]]]) -> Score:
    """Plagdet, precision, recall, granularity; a case is what is true and what was found."""
    recall = [share(true, found) for trues, found in cases for true in trues]
    precision = [share(one, trues) for trues, found in cases for one in found]
    counts = [len(met(true, found)) for trues, found in cases for true in trues]
    detected = [count for count in counts if count]
    r = sum(recall) / len(recall) if recall else 0.0
    p = sum(precision) / len(precision) if precision else 0.0
    granularity = sum(detected) / len(detected) if detected else 1.0
    f = 2 * p * r / (p + r) if p + r else 0.0
    return f / math.log2(1 + granularity), p, r, granularity


def read(folder: Path, part: str, name: str) -> list[dict[str, str]]:
    with (folder / f"{part}.{name}.csv").open() as file:
        return list(csv.DictReader(file))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", default="train")
    chosen = parser.parse_args()
    folder, part = chosen.folder, chosen.part
    table = pq.read_table(folder / f"{part}.docs.parquet").to_pydict()
    number = {name: i for i, name in enumerate(table["id"])}
    labels = read(folder, part, "labels")
    truth: defaultdict[tuple[str, str], list[Span]] = defaultdict(list)
    for row in read(folder, part, "spans"):
        a, b = int(row["this_offset"]), int(row["source_offset"])
        spans = (a, a + int(row["this_length"]), b, b + int(row["source_length"]))
        truth[row["id_a"], row["id_b"]].append(spans)
    pairs = np.array([[number[row["id_a"]], number[row["id_b"]]] for row in labels], np.uint32)
    began = time.perf_counter()
    found = align_pairs(string_array(table["text"]), pairs, PassageSettings(), threads=2)
    seconds = time.perf_counter() - began
    by_pair: defaultdict[tuple[int, int], list[Span]] = defaultdict(list)
    columns = (found.a, found.b, found.start_a, found.end_a, found.start_b, found.end_b)
    for a, b, *span in zip(*(column.tolist() for column in columns), strict=True):
        by_pair[a, b].append(tuple(span))
    kinds: defaultdict[str, list[tuple[Sequence[Span], Sequence[Span]]]] = defaultdict(list)
    for row in labels:
        here = by_pair.get((number[row["id_a"]], number[row["id_b"]]), [])
        kinds[row["class"]].append((truth.get((row["id_a"], row["id_b"]), []), here))
    print(f"{len(labels):,} pairs given, {seconds:.2f} s\n")
    print(f"{'':<26}plagdet  precision  recall  granularity")
    everything = [case for cases in kinds.values() for case in cases]
    for kind, cases in [*sorted(kinds.items()), ("all", everything)]:
        if kind == "no-plagiarism":
            print(f"{kind:<26}{sum(len(here) for _, here in cases)} passages found")
            continue
        score = plagdet(cases)
        print(f"{kind:<26}{score[0]:.4f}   {score[1]:.4f}     {score[2]:.4f}  {score[3]:.4f}")
    without_pairs(folder / f"{part}.docs.parquet", labels, set(truth))


def without_pairs(
    documents: Path, labels: list[dict[str, str]], truth: set[tuple[str, str]]
) -> None:
    """How many of the labelled pairs are found when none is given."""
    began = time.perf_counter()
    result = nearly.passages(str(documents))
    seconds = time.perf_counter() - began
    pairs = result.pairs.select(["id_a", "id_b"]).to_pylist()
    reported = {frozenset(row.values()) for row in pairs}
    labelled = {(row["id_a"], row["id_b"]) for row in labels if row["class"] == "no-plagiarism"}
    right = sum(frozenset(pair) in reported for pair in truth)
    wrong = sum(frozenset(pair) in reported for pair in labelled - truth)
    print(
        f"\nno pairs given, {seconds:.2f} s: {right / len(truth):.4f} of the labelled pairs found"
    )
    print(f"of the labelled pairs reported, {right / max(1, right + wrong):.4f} are right")


if __name__ == "__main__":
    main()
