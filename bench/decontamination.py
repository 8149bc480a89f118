"""Questions in training data: 1,000 planted passages of 13 to 50 words in 200,000 documents.

Documents are generated (`generate.py`). A question has its own passage between other words; one
document has the passage too, verbatim or with one word in ten replaced. Both kinds are planted
`--passages` times. A passage is found if what is reported overlaps it in the question and in the
document; a report that overlaps no planted passage on both sides is false. Half of the documents
are searched once more: the memory must not grow with them.

    python bench/decontamination.py [--documents 200000] [--passages 1000] [--repeat 3]
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import generate
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import CACHE, median, save, show
from passage_speed import cost

import nearly

LEAST, MOST = 13, 50
OWN = 20  # words of a question on either side of its passage


class Planted(NamedTuple):
    """Characters of a question and of a document, and whether words were replaced."""

    question: str
    question_start: int
    question_end: int
    document: str
    start: int
    end: int
    is_changed: bool

    def meets(self, row: dict[str, Any]) -> bool:
        """Whether what was reported of the two documents overlaps it on both sides."""
        in_question = row["start_a"] < self.question_end and self.question_start < row["end_a"]
        return in_question and row["start_b"] < self.end and self.start < row["end_b"]


def plant(documents: int, passages: int, folder: Path) -> tuple[Path, Path]:
    """The questions and the documents, with what was planted beside them; made when not there."""
    folder.mkdir(parents=True, exist_ok=True)
    questions, train = folder / "questions.parquet", folder / "train.parquet"
    if train.exists():
        return questions, train
    draw = np.random.default_rng(3)
    slots = generate.Generator(1).slots
    plain = [text for each in generate.batches(documents, 1) for text in each["text"].to_pylist()]
    asked, planted = [], []
    for number, place in enumerate(draw.choice(documents // 2, 2 * passages, replace=False)):
        passage = words(draw, slots, int(draw.integers(LEAST, MOST + 1)))
        lead = " ".join(words(draw, slots, OWN)) + " "
        asked.append(" ".join([lead[:-1], *passage, *words(draw, slots, OWN)]))
        is_changed = number >= passages
        copy = changed(draw, slots, passage) if is_changed else passage
        own = plain[place].split(" ")
        before = " ".join(own[: len(own) // 2]) + " "
        plain[place] = " ".join([before[:-1], *copy, *own[len(own) // 2 :]])
        end = len(before) + len(" ".join(copy))
        in_question = (len(lead), len(lead) + len(" ".join(passage)))
        there = (f"d{place}", len(before), end)
        planted.append(Planted(f"q{number}", *in_question, *there, is_changed))
    names = [f"q{number}" for number in range(len(asked))]
    pq.write_table(pa.table({"id": names, "text": asked}), questions)
    (folder / "planted.json").write_text(json.dumps(planted))
    pq.write_table(pa.table({"id": [f"d{i}" for i in range(documents)], "text": plain}), train)
    return questions, train


def words(draw: np.random.Generator, slots: Any, count: int) -> list[str]:
    return [generate.spell(int(rank)) for rank in slots[draw.integers(0, len(slots), count)]]


def changed(draw: np.random.Generator, slots: Any, passage: list[str]) -> list[str]:
    """With one word in ten replaced by another one."""
    made = list(passage)
    for place in draw.choice(len(made), round(len(made) / 10), replace=False):
        while made[place] == passage[place]:
            (made[place],) = words(draw, slots, 1)
    return made


def once(questions: Path, train: Path) -> None:
    """One search, in this process, judged by what was planted."""
    took, found = cost(lambda: nearly.passages(str(questions), str(train), least=LEAST, threads=2))
    planted = [Planted(*row) for row in json.loads((train.parent / "planted.json").read_text())]
    real = {(each.question, each.document): each for each in planted}
    rows = found.passages.to_pylist()
    owners = [real.get((row["id_a"], row["id_b"])) for row in rows]
    owned = [(row, each) for row, each in zip(rows, owners, strict=True) if each is not None]
    met = {each for row, each in owned if each.meets(row)}
    told = {
        "verbatim": sum(not each.is_changed for each in met),
        "changed": sum(each.is_changed for each in met),
        "false": len(rows) - sum(each.meets(row) for row, each in owned),
    }
    print(json.dumps({**took, **told}))


def measured(questions: Path, train: Path, repeat: int) -> dict[str, Any]:
    """The medians of some runs."""
    asked = [sys.executable, __file__, "--once", str(questions), str(train)]
    runs = [
        json.loads(subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True).stdout)
        for _ in range(repeat)
    ]
    seconds, processor = (median(run[name] for run in runs) for name in ("seconds", "processor"))
    size = sum(map(len, pq.read_table(train)["text"].to_pylist())) / 1e6
    took = {"megabytes": size, "seconds": seconds, "processor": processor, "speed": size / seconds}
    return {**runs[0], **took}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--passages", type=int, default=1_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--once", type=Path, nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.once:
        once(*chosen.once)
        return
    folder = CACHE / f"decontamination-{chosen.documents}-{chosen.passages}"
    questions, train = plant(chosen.documents, chosen.passages, folder)
    half = folder / "half.parquet"
    pq.write_table(pq.read_table(train).slice(0, chosen.documents // 2), half)
    rows = {
        "half": measured(questions, half, chosen.repeat),
        "whole": measured(questions, train, chosen.repeat),
    }
    headings = (
        "megabytes",
        "seconds",
        "processor",
        "speed",
        "peak",
        "verbatim",
        "changed",
        "false",
    )
    show(("documents", *headings), [(name, *map(row.get, headings)) for name, row in rows.items()])
    save("decontamination", {"runs": chosen.repeat, "load": os.getloadavg(), "corpora": rows})


if __name__ == "__main__":
    main()
