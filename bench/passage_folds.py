"""How well the numbers of edited passages hold on documents that they were not tuned on.

    python bench/passage_folds.py FOLDER [--rounds 2]

FOLDER is that of `passages.py`. The suspicious documents are dealt into three folds. For each fold
all numbers of `passage/edited.py` are set to round ones that nobody tuned, and climb one by one to
what scores best on the other two folds; the fold itself is then scored. So what is told here was
found by numbers that never saw the documents they are judged by. Beside it stands what the
package's own numbers, which were tuned on all of them, score on the same folds.
"""

import argparse
import zlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow.parquet as pq
from harness import save, show
from passages import Score, Span, plagdet, read

from nearly.arrays import string_array
from nearly.passage import edited
from nearly.passage.unit import cut
from nearly.settings import PassageSettings

FOLDS = 3
START: dict[str, float] = {
    "most_meetings": 2,
    "gap": 200,
    "least_density": 0.2,
    "steadiness": 0.5,
    "least_evidence": 30.0,
    "least_length": 100,
    "snap": 50,
    "least_verbatim": 0.5,
    "condensed_density": 0.5,
    "least_scattered": 50.0,
    "least_outside": 0.2,
    "rise": 2.0,
    "widest": 20.0,
}
#: What each number is multiplied with on its way; those that are missing stay.
STEPS = {
    "gap": (0.8, 1.25),
    "least_density": (0.6, 0.8, 1.25),
    "steadiness": (0.6, 0.8, 1.25),
    "least_evidence": (0.75, 1.25, 1.5),
    "least_length": (0.75, 1.5, 2),
    "snap": (0.8, 1.25),
    "least_verbatim": (0.8, 1.2, 1.4),
    "condensed_density": (0.8, 1.25),
    "least_scattered": (0.8, 1.25, 1.5),
    "least_outside": (0.75, 1.5, 2),
    "rise": (0.75, 1.5, 2),
    "widest": (0.5, 0.75, 1.5),
}
WHOLE = ("most_meetings", "gap", "least_length", "snap")
OF_SUMMARIES = ("least_scattered", "least_outside", "rise", "widest")
Case = tuple[Sequence[Span], Sequence[Span]]


class Bench:
    """The documents, cut once, and what is true of their pairs."""

    def __init__(self, folder: Path) -> None:
        table = pq.read_table(folder / "train.docs.parquet").to_pydict()
        number = {name: i for i, name in enumerate(table["id"])}
        self.labels = read(folder, "train", "labels")
        self.truth: defaultdict[tuple[str, str], list[Span]] = defaultdict(list)
        for row in read(folder, "train", "spans"):
            a, b = int(row["this_offset"]), int(row["source_offset"])
            spans = (a, a + int(row["this_length"]), b, b + int(row["source_length"]))
            self.truth[row["id_a"], row["id_b"]].append(spans)
        rows = [[number[row["id_a"]], number[row["id_b"]]] for row in self.labels]
        self.pairs = np.array(rows, np.uint32)
        self.folds = np.array([zlib.crc32(row["id_a"].encode()) % FOLDS for row in self.labels])
        self.words = cut(string_array(table["text"]), PassageSettings(), unit="word", threads=2)

    def cases(self, chosen: np.ndarray, numbers: dict[str, float]) -> dict[str, list[Case]]:
        """What is true and what is found of some pairs, by kind."""
        given = {n: int(v) if n in WHOLE else v for n, v in numbers.items()}
        least_verbatim = given.pop("least_verbatim")
        condensing = {name: given.pop(name) for name in OF_SUMMARIES}
        condensing |= {"gap": given["gap"], "least_density": given.pop("condensed_density")}
        with (
            mock.patch.object(edited, "ALIGNMENT", given),
            mock.patch.object(edited, "CONDENSING", condensing),
            mock.patch.object(edited, "LEAST_VERBATIM", least_verbatim),
        ):
            found = edited.aligned(self.words, self.pairs[chosen], "english", 2)
        by_pair: defaultdict[tuple[int, int], list[Span]] = defaultdict(list)
        columns = (found.a, found.b, found.start_a, found.end_a, found.start_b, found.end_b)
        for a, b, *span in zip(*(column.tolist() for column in columns), strict=True):
            by_pair[a, b].append(tuple(span))  # type: ignore[arg-type]
        kinds: defaultdict[str, list[Case]] = defaultdict(list)
        for i in np.flatnonzero(chosen).tolist():
            row, (a, b) = self.labels[i], self.pairs[i].tolist()
            case = (self.truth.get((row["id_a"], row["id_b"]), []), by_pair.get((a, b), []))
            kinds[row["class"]].append(case)
        return kinds


def overall(kinds: dict[str, list[Case]]) -> Score:
    return plagdet([case for cases in kinds.values() for case in cases])


def climbed(bench: Bench, chosen: np.ndarray, rounds: int) -> tuple[dict[str, float], int]:
    """The numbers that score best on some pairs, one after the other; and how many were tried."""
    best, tried = dict(START), 1
    score = overall(bench.cases(chosen, best))[0]
    for _ in range(rounds):
        before = score
        for name, factors in STEPS.items():
            centre = best[name]
            for factor in factors:
                numbers = {**best, name: centre * factor}
                tried += 1
                if (now := overall(bench.cases(chosen, numbers))[0]) > score:
                    score, best = now, numbers
        if score == before:
            break
    return best, tried


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    chosen = parser.parse_args()
    bench = Bench(chosen.folder)
    own = {**edited.CONDENSING, "condensed_density": edited.CONDENSING["least_density"]}
    own |= {**edited.ALIGNMENT, "least_verbatim": edited.LEAST_VERBATIM}
    pooled: dict[str, defaultdict[str, list[Case]]] = {}
    folds: list[dict[str, Any]] = []
    for fold in range(FOLDS):
        numbers, tried = climbed(bench, bench.folds != fold, chosen.rounds)
        here = bench.folds == fold
        told: dict[str, Any] = {"numbers": numbers, "tried": tried}
        for name, used in (("climbed", numbers), ("package", own), ("start", START)):
            kinds = bench.cases(here, used)
            told[name] = overall(kinds)[0]
            for kind, cases in kinds.items():
                pooled.setdefault(name, defaultdict(list))[kind] += cases
        folds.append(told)
        print(f"fold {fold}: {told}", flush=True)
    scores = {
        name: {**{k: plagdet(v) for k, v in kinds.items()}, "all": overall(kinds)}
        for name, kinds in pooled.items()
    }
    names = [kind for kind in sorted(scores["package"]) if kind != "no-plagiarism"]
    show(("plagdet", *names), [(n, *(s[kind][0] for kind in names)) for n, s in scores.items()])
    save("passage_folds", {"folds": folds, "scores": scores})


if __name__ == "__main__":
    main()
