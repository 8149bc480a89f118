"""All pairs of 100 MB of text: the speed of `nearly passages`, its growth, and skew.

Generated documents (`generate.py`), of which one in ten is a copy. The corpus is searched whole,
and half of it, and once more with one passage of sixty words in front of every document. Each run
has a process of its own; its seconds on the processor are told beside those on the wall, since a
busy machine changes only the latter.

    python bench/passage_speed.py [--documents 320000] [--repeat 3]
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from harness import CACHE, generated, median, peak_bytes, save, show, timed

import nearly

PASSAGE = 60  # words


def skewed(path: Path) -> Path:
    """The same corpus with one passage in front of every document."""
    import generate

    made = path.with_name(f"every-{path.name}")
    if not made.exists():
        passage = " ".join(generate.spell(50_000 + 7 * i) for i in range(PASSAGE))
        table = pq.read_table(path)
        texts = pc.binary_join_element_wise(pa.scalar(passage), table["text"], " ")
        pq.write_table(table.set_column(1, "text", texts), made)
    return made


def cost(work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """What some work took in this process, and what it gave."""
    before = os.times()
    seconds, given = timed(work)
    after = os.times()
    used = after.user + after.system - before.user - before.system
    return {"seconds": seconds, "processor": used, "peak": peak_bytes()}, given


def once(path: Path) -> None:
    """One search, in this process: what it took, for the one who asked."""
    took, found = cost(lambda: nearly.passages(str(path), threads=2))
    print(json.dumps({**took, "passages": len(found), "repeats": found.repeats.num_rows}))


def measured(path: Path, repeat: int) -> dict[str, Any]:
    """The medians of some runs; what they found is the same in all of them."""
    asked = [sys.executable, __file__, "--once", str(path)]
    runs = [
        json.loads(subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True).stdout)
        for _ in range(repeat)
    ]
    table = pq.read_table(path, columns=["text"])
    megabytes = pc.sum(pc.binary_length(table["text"])).as_py() / 1e6
    seconds, processor = (median(run[name] for run in runs) for name in ("seconds", "processor"))
    return {
        **runs[0],
        "megabytes": megabytes,
        "seconds": seconds,
        "processor": processor,
        "speed": megabytes / seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=320_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--once", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.once:
        once(chosen.once)
        return
    CACHE.mkdir(exist_ok=True)
    half, whole = (generated(chosen.documents // part)[0] for part in (2, 1))
    corpora = {"half": half, "whole": whole, "one passage in every document": skewed(whole)}
    rows = {name: measured(path, chosen.repeat) for name, path in corpora.items()}
    headings = ("megabytes", "seconds", "processor", "speed", "peak", "passages", "repeats")
    show(("corpus", *headings), [(name, *map(row.get, headings)) for name, row in rows.items()])
    save("passage_speed", {"runs": chosen.repeat, "load": os.getloadavg(), "corpora": rows})


if __name__ == "__main__":
    main()
