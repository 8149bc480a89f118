"""One of the peers that are pipelines of their own, once, in a process and environment of its own.

Words of 5, threshold 0.8, 128 permutations where that can be chosen; prints the seconds without
imports as JSON, and writes pairs of rows. text-dedup and datatrove give clusters: a pair is what
lies in one. daft signs; documents that agree in a band are a pair, as in its guide.

    ENVIRONMENT/bin/python bench/pipelines.py {text-dedup,datatrove,daft} FILE.parquet PAIRS.npy
"""

import argparse
import json
import struct
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

K, THRESHOLD, PERMUTATIONS, BANDS, WORKERS = 5, 0.8, 128, 16, 2

Groups = Iterable[list[int]]


def by_text_dedup(path: Path, folder: Path) -> tuple[float, Groups]:
    """Its command, called here; documents of fewer words than a shingle are left out by it."""
    from text_dedup import minhash

    options = {
        "path": "parquet", "data_files": path, "split": "train", "column": "text",
        "cache_dir": folder / "cache", "output": folder / "clean", "num_proc": WORKERS,
        "ngram": K, "min_length": K, "num_perm": PERMUTATIONS, "threshold": THRESHOLD,
        "batch_size": 10_000,
    }  # fmt: skip
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    seconds = timed(lambda: minhash.main(words, standalone_mode=False))
    groups: dict[int, list[int]] = defaultdict(list)
    for row in sorted(minhash.uf.parent):
        groups[minhash.uf.find(row)].append(row)
    return seconds, groups.values()


def by_datatrove(path: Path, folder: Path) -> tuple[float, Groups]:
    """Signatures, buckets, clusters: each stage with two workers, where it allows for them.

    A file is read by one worker, so the corpus is cut in two files before the clock starts. Words
    are what lies between spaces: its tokenizers are slower, and would not be judged fairly.
    """
    import pyarrow.parquet as pq
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupSignature
    from datatrove.pipeline.readers import ParquetReader
    from datatrove.utils.word_tokenizers import WordTokenizer

    class Spaces(WordTokenizer):
        def word_tokenize(self, text: str) -> list[str]:
            return text.split()

        def sent_tokenize(self, text: str) -> list[str]:
            return [text]

        def span_tokenize(self, text: str) -> list[tuple[int, int]]:
            return [(0, len(text))]

    table = pq.read_table(path, columns=["id", "text"])
    half = len(table) // 2 + 1
    for part in range(2):
        (folder / "in").mkdir(exist_ok=True)
        pq.write_table(table.slice(part * half, half), folder / "in" / f"{part}.parquet")
    config = MinhashConfig(n_grams=K, num_buckets=BANDS, hashes_per_bucket=PERMUTATIONS // BANDS)
    places = [str(folder / name) for name in ("in", "signatures", "buckets", "clusters")]
    sign = MinhashDedupSignature(places[1], config, language=Spaces("spaces"))
    meet = MinhashDedupBuckets(places[1], places[2], config=config)
    link = MinhashDedupCluster(places[2], places[3], config=config, save_cluster_id=True)
    stages = [([ParquetReader(places[0]), sign], 2), ([meet], BANDS), ([link], 1)]

    def run() -> None:
        for number, (steps, tasks) in enumerate(stages):
            logs = str(folder / "logs" / str(number))
            LocalPipelineExecutor(steps, tasks=tasks, workers=WORKERS, logging_dir=logs).run()

    seconds = timed(run)
    groups: dict[int, list[int]] = defaultdict(list)
    for part in range(2):
        for document, cluster in struct.iter_unpack(
            "<2I", (folder / "clusters" / f"{part:06d}.clusters").read_bytes()
        ):
            groups[cluster].append(part * half + document)
    return seconds, groups.values()


def by_daft(path: Path, folder: Path) -> tuple[float, Groups]:  # noqa: ARG001
    """Its minhash, and bands by its own operations on lists and groups."""
    import daft
    from daft import col

    rows = PERMUTATIONS // BANDS
    found: list[Any] = []

    def run() -> None:
        signed = (
            daft.read_parquet(str(path))
            ._add_monotonically_increasing_id("row")
            .select("row", col("text").minhash(num_hashes=PERMUTATIONS, ngram_size=K).alias("s"))
            .collect()
        )
        bands = [
            signed.select("row", daft.lit(b).alias("band"), part(b).alias("key"))
            for b in range(BANDS)
        ]
        together = bands[0]
        for more in bands[1:]:
            together = together.concat(more)
        met = together.groupby("band", "key").agg(col("row").list_agg().alias("rows"))
        found.extend(met.where(col("rows").list_count() > 1).to_pydict()["rows"])

    def part(band: int) -> Any:
        return col("s").slice(band * rows, (band + 1) * rows).cast(
            daft.DataType.list(daft.DataType.uint32())
        ).hash()  # fmt: skip

    return timed(run), found


PIPELINES = {"text-dedup": by_text_dedup, "datatrove": by_datatrove, "daft": by_daft}


def timed(work: Callable[[], object]) -> float:
    """Seconds on the wall."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    import numpy as np

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("peer", choices=PIPELINES)
    parser.add_argument("path", type=Path)
    parser.add_argument("pairs", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seconds, groups = PIPELINES[asked.peer](asked.path.resolve(), Path(folder))
    pairs = {pair for rows in groups for pair in combinations(sorted(rows), 2)}
    np.save(asked.pairs, np.array(sorted(pairs), np.int64).reshape(-1, 2))
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main()
