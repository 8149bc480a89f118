"""What the exact join costs beside hashing, and what `auto` chooses: threshold 0.8, 5-shingles.

Both ways run in turn in one process, all pairs asked for, raw text; seconds are the least.

    python bench/free.py [--data DIR] [--corpus debian …] [--repeat 3] [--threads 2]
"""

from pathlib import Path
from typing import Any

import harness
from peers import CORPORA, THRESHOLD, UNITS, K

import nearly

WAYS = ("lsh", "exact", "auto")


def find(path: Path, unit: str, method: str, threads: int) -> Any:
    """One run."""
    return nearly.find(
        str(path),
        id="id",
        text="text",
        unit=unit,
        k=K,
        threshold=THRESHOLD,
        raw=True,
        all_pairs=True,
        method=method,
        threads=threads,
    )


def measure(path: Path, unit: str, threads: int, repeat: int) -> dict[str, Any]:
    """Seconds and pairs of each way, and the choice."""
    row: dict[str, Any] = {}
    for way in WAYS * repeat:
        seconds, found = harness.timed(lambda way=way: find(path, unit, way, threads))
        row[way] = min(seconds, row.get(way, seconds))
        row[f"pairs, {way}"] = found.pairs.num_rows
        row["chosen"] = found.statistics.method  # the last one is auto's
    return row | {"ratio": row["exact"] / row["lsh"]}


def main() -> None:
    parser = harness.parser(__doc__.partition("\n")[0])
    parser.add_argument("--corpus", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    rows = [
        {"corpus": name, "unit": unit}
        | measure(asked.data / CORPORA[name], unit, asked.threads, asked.repeat)
        for name in asked.corpus
        for unit in UNITS
    ]
    columns = ["corpus", "unit", "lsh", "exact", "ratio", "auto", "chosen"]
    harness.show(columns, [[row[name] for name in columns] for row in rows])
    harness.save("free", {"threads": asked.threads, "rows": rows})


if __name__ == "__main__":
    main()
