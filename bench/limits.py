"""What this machine can do, and the share of it that each stage reaches.

Limits: bytes a second of a plain copy, of a loop that only rolls a hash over the text
(`rolling.cpp`), and of pyarrow reading the two columns. All are CPU seconds of this process, taken
in turn with the stage that is held to them, so that a busy machine hits both.

    python bench/limits.py [--data DIR] [--repeat 5]
"""

import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import harness
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from signing import SHORTEST, roller, signer

from nearly.sources import Skipped, open_source

CORPORA = {
    "debian": "debian/docs.parquet",
    "newsgroups": "newsgroups/docs.parquet",
    "licences": "licences/docs.parquet",
    "tweets": "tweets/troll-300k.parquet",
}
#: The share of its limit that a stage is to reach.
GOALS = {"signing": 0.6, "signing, tweets": 0.4, "reading": 0.7}
COPIED = 2**28


def in_turn(works: Mapping[str, Callable[[], Any]], repeat: int) -> dict[str, float]:
    """The least CPU seconds of each; one round before counting warms all."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeat + 1):
        for name, work in works.items():
            start = time.process_time()
            work()
            if turn:
                seconds[name].append(time.process_time() - start)
    return {name: min(all_turns) for name, all_turns in seconds.items()}


def copying(repeat: int) -> float:
    """Bytes a second of a copy between memory that is there."""
    one, other = np.ones(COPIED, np.uint8), np.ones(COPIED, np.uint8)
    return COPIED / in_turn({"copy": lambda: np.copyto(one, other)}, repeat)["copy"]


def texts_of(path: Path) -> pa.LargeStringArray:
    """Documents over a kilobyte; of tweets, all."""
    texts = pq.read_table(path, columns=["text"])["text"]
    if "tweets" not in path.parts:
        texts = texts.filter(pc.greater_equal(pc.binary_length(texts), SHORTEST))
    return pc.cast(texts.combine_chunks(), pa.large_string())


def read_by_arrow(path: Path) -> None:
    """Both columns, batch by batch."""
    for _ in pq.ParquetFile(path).iter_batches(columns=["id", "text"]):
        pass


def read_by_nearly(path: Path) -> None:
    """The same as documents."""
    with tempfile.TemporaryDirectory() as folder:
        source = open_source(str(path), id="id", text="text", temporary=Path(folder))
        for _ in source.documents(Skipped(strict=False)):
            pass


def measure(name: str, path: Path, repeat: int) -> list[dict[str, Any]]:
    """Signing and reading of one corpus, each beside its limit."""
    texts = texts_of(path)
    size = pc.sum(pc.binary_length(texts)).as_py()
    signed = in_turn({"limit": roller(texts), "stage": signer(texts)}, repeat)
    read = {"limit": lambda: read_by_arrow(path), "stage": lambda: read_by_nearly(path)}
    whole = pc.sum(pc.binary_length(pq.read_table(path, columns=["text"])["text"])).as_py()
    rows = []
    for stage, bytes_, seconds in (
        ("signing, tweets" if name == "tweets" else "signing", size, signed),
        ("reading", whole, in_turn(read, repeat)),
    ):
        share = seconds["limit"] / seconds["stage"]
        speeds = {each: bytes_ / seconds[each] for each in ("limit", "stage")}
        rows.append({"corpus": name, "of": stage, **speeds, "share": share, "goal": GOALS[stage]})
    return rows


def main() -> None:
    parser = harness.parser(__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    asked = parser.parse_args()
    copied = copying(asked.repeat)
    rows = [
        row
        for name, path in CORPORA.items()
        for row in measure(name, asked.data / path, asked.repeat)
    ]
    print(f"A plain copy: {copied / 1e9:.1f} GB a second of CPU.\n")
    harness.show(
        ["corpus", "stage", "limit MB/s", "stage MB/s", "share", "goal"],
        [
            [r["corpus"], r["of"], r["limit"] / 1e6, r["stage"] / 1e6, r["share"], r["goal"]]
            for r in rows
        ],
    )
    harness.save("limits", {"copy_bytes_per_second": copied, "stages": rows})


if __name__ == "__main__":
    main()
