"""Time and memory as the corpus doubles: 250,000 to 2 million generated documents.

Each size runs in a fresh process, sizes in turn. Memory beyond the text is the peak of the
process, less the bytes of the text, less the peak of the same process on a thousand documents
(the interpreter and its libraries).

At a million documents one core is measured too. Of large documents (`oversized.py`) the peak is
told as a multiple of their text, with the interpreter and its libraries.

    python bench/scaling.py [--repeat 3] [--largest 2000000]
"""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

import harness
import pyarrow.compute as pc
import pyarrow.parquet as pq

SMALLEST = 250_000
BASELINE = 1_000
MIDDLE = 1_000_000  # where one core is compared with two
LARGE = 8_000  # documents of some 62 KB: as much text as the RFCs have


def measure(sizes: list[int], repeat: int) -> list[dict[str, Any]]:
    """For every size: all runs, the median time, and memory beyond the text by document."""
    corpora = {size: harness.generated(size) for size in (BASELINE, *sizes)}
    runs: dict[int, list[dict[str, Any]]] = {size: [] for size in corpora}
    for _ in range(repeat):
        for size, (path, _) in corpora.items():
            runs[size].append(harness.find_in_child(path))
    baseline = harness.median(run["peak_bytes"] for run in runs[BASELINE])
    measured = []
    for size in sizes:
        text_bytes = corpora[size][1]
        peak = max(run["peak_bytes"] for run in runs[size])
        measured.append(
            {
                "documents": size,
                "text_bytes": text_bytes,
                "runs": runs[size],
                "pairs": runs[size][0]["pairs"],
                "seconds": harness.median(run["seconds"] for run in runs[size]),
                "peak_bytes": peak,
                "beyond_text_by_document": (peak - baseline - text_bytes) / size,
            }
        )
    return measured


def large_documents() -> Path:
    """Large documents in the cache; made when they are not there."""
    path = harness.CACHE / f"large-texts-{LARGE}.parquet"
    if not path.exists():
        asked = ["large-texts", "--documents", str(LARGE), "-o", str(path)]
        subprocess.run([sys.executable, harness.BENCH / "oversized.py", *asked], check=True)
    return path


def measure_large() -> dict[str, Any]:
    """Large documents: the peak beside their text."""
    path = large_documents()
    run = harness.find_in_child(path)
    texts = pq.read_table(path, columns=["text"])["text"]
    text_bytes = pc.sum(pc.binary_length(texts)).as_py()
    return {**run, "text_bytes": text_bytes, "times_text": run["peak_bytes"] / text_bytes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--largest", type=int, default=2_000_000)
    asked = parser.parse_args()
    sizes = [SMALLEST]
    while sizes[-1] * 2 <= asked.largest:
        sizes.append(sizes[-1] * 2)
    measured = measure(sizes, asked.repeat)
    smaller: list[dict[str, Any] | None] = [None, *measured[:-1]]
    for now, before in zip(measured, smaller, strict=True):
        now["times_half"] = now["seconds"] / before["seconds"] if before else None
    harness.show(
        ["documents", "pairs", "seconds", "times half", "peak MB", "bytes beyond text"],
        [
            [
                m["documents"],
                m["pairs"],
                m["seconds"],
                m["times_half"],
                m["peak_bytes"] // 10**6,
                m["beyond_text_by_document"],
            ]
            for m in measured
        ],
    )
    alone = harness.find_in_child(harness.generated(MIDDLE)[0], threads=1)["seconds"]
    both = next(m["seconds"] for m in measured if m["documents"] == MIDDLE)
    print(f"{MIDDLE:,} documents: two cores are {alone / both:.2f} times one")
    large = measure_large()
    told = f"{LARGE:,} documents, {large['text_bytes'] // 10**6} MB"
    print(f"{told}: the peak is {large['times_text']:.2f} times the text")
    of_one_core = {str(MIDDLE): alone}
    harness.save("scaling", {"sizes": measured, "one_core_seconds": of_one_core, "large": large})


if __name__ == "__main__":
    main()
