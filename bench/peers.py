"""The whole job on the debian corpus: nearly against gaoya, rensa and datasketch.

Each contender reads the Parquet file, shingles, signs (peers: 128 permutations), and asks for
the neighbours of every document at threshold 0.8, with 5-shingles of characters and of words.
All run in one process, in turn, so that a slow minute of the machine hits them all. Recall and
precision are against the exact truth of `truth.py`.

    python bench/peers.py [--data DIR] [--repeat 3] [--threads 2]
"""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import harness
import pyarrow as pa
import pyarrow.parquet as pq
from judge import Judge

UNITS = ("char", "word")
K = 5
THRESHOLD = 0.8
PERMUTATIONS = 128
BANDS = 16

#: What a contender gives: the neighbours of every row (peers), or a table of pairs (nearly).
Contender = Callable[[Path, str], list[list[int]] | pa.Table]


def read_texts(path: Path) -> list[str]:
    """The texts as Python strings, which is what every peer takes."""
    texts: list[str] = pq.read_table(path, columns=["text"])["text"].to_pylist()
    return texts


def shingle_lists(texts: list[str], unit: str) -> Iterator[list[str]]:
    """Shingles in plain Python, for peers that leave shingling to their users."""
    if unit == "char":
        return ([t[i : i + K] for i in range(max(len(t) - K + 1, 1))] for t in texts)
    return (
        [" ".join(words[i : i + K]) for i in range(max(len(words) - K + 1, 1))]
        for words in map(str.split, texts)
    )


def run_gaoya(path: Path, unit: str) -> list[list[int]]:
    """Shingling and signing in Rust; the bulk calls use all cores; 16 bands of 8.

    The fastest of the combinations tried; README.md says what it gives up in recall.
    """
    from gaoya.minhash import MinHashStringIndex

    texts = read_texts(path)
    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=THRESHOLD,
        num_bands=BANDS,
        band_size=PERMUTATIONS // BANDS,
        analyzer=unit,
        ngram_range=(K, K),
        id_container="smallvec",
    )
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    neighbours: list[list[int]] = index.par_bulk_query(texts)
    return neighbours


def run_rensa(path: Path, unit: str) -> list[list[int]]:
    """Batch signing and queries use all cores; 16 bands of 8, then its own estimate.

    The 8 bands of its own benchmark give about half the pairs.
    """
    from rensa import RMinHash, RMinHashLSH

    signatures = RMinHash.from_token_sets(shingle_lists(read_texts(path), unit), PERMUTATIONS, 42)
    index = RMinHashLSH(THRESHOLD, PERMUTATIONS, BANDS)
    index.insert_many(signatures)
    return [
        [b for b in neighbours if a < b and signature.jaccard(signatures[b]) >= THRESHOLD]
        for a, (signature, neighbours) in enumerate(
            zip(signatures, index.query_all(signatures), strict=True)
        )
    ]


def run_datasketch(path: Path, unit: str) -> list[list[int]]:
    """One thread, as the library is; its own choice of bands, then its own estimate."""
    from datasketch import MinHash, MinHashLSH

    encoded = ([s.encode() for s in shingles] for shingles in shingle_lists(read_texts(path), unit))
    signatures = list(MinHash.generator(encoded, num_perm=PERMUTATIONS))
    index = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)
    with index.insertion_session() as session:
        for number, signature in enumerate(signatures):
            session.insert(number, signature, check_duplication=False)
    return [
        [
            b
            for b in index.query(signature)
            if a < b and signature.jaccard(signatures[b]) >= THRESHOLD
        ]
        for a, signature in enumerate(signatures)
    ]


PEERS: dict[str, Contender] = {
    "gaoya": run_gaoya,
    "rensa": run_rensa,
    "datasketch": run_datasketch,
}


def nearly_contenders(threads: int) -> dict[str, Contender]:
    """nearly on all threads, on one, and as a command; none before it has `find`."""
    import nearly

    if not hasattr(nearly, "find"):
        print("nearly.find is not there yet: peers only.\n")
        return {}

    def find(count: int) -> Contender:
        return lambda path, unit: (
            nearly.find(
                str(path),
                id="id",
                text="text",
                unit=unit,
                k=K,
                threshold=THRESHOLD,
                raw=True,
                all_pairs=True,
                threads=count,
            ).pairs
        )

    return {"nearly": find(threads), "nearly, 1 thread": find(1), "nearly command": run_command}


def run_command(path: Path, unit: str) -> pa.Table:
    """The command with its start-up, from a Parquet file to a Parquet file."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = Path(folder) / "pairs.parquet"
        settings = f"--id id --text text --unit {unit} --k {K} --threshold {THRESHOLD}".split()
        command = [harness.nearly_command(), "find", str(path), *settings, "--raw", "--all-pairs"]
        subprocess.run([*command, "--quiet", "-o", str(pairs)], check=True)
        return pq.read_table(pairs)


def measure(path: Path, contenders: dict[str, Contender], unit: str, repeat: int) -> dict[str, Any]:
    """Seconds of every repetition, taken in turn, and the quality of each answer.

    A fast contender runs twice a turn: its time is the one that needs more repetitions.
    """
    judge = Judge(path, unit, K, THRESHOLD)
    measured: dict[str, Any] = {name: {"seconds": []} for name in contenders}
    for _ in range(repeat):
        for name, contender in contenders.items():
            for _ in range(1 if name in PEERS else 2):
                seconds, answer = harness.timed(partial(contender, path, unit))
                measured[name]["seconds"].append(seconds)
            measured[name].update(judge.quality(answer))
    for name in measured:
        measured[name]["median"] = harness.median(measured[name]["seconds"])
    return measured


def report(unit: str, measured: dict[str, Any]) -> None:
    """The table of one unit, and the ratios that are promised."""
    print(f"\n{unit} k={K}, threshold {THRESHOLD}")
    fastest = min((name for name in measured if name in PEERS), key=lambda n: measured[n]["median"])
    harness.show(
        ["contender", "median s", "best s", "pairs", "recall", "precision", f"{fastest} / it"],
        [
            [
                name,
                m["median"],
                min(m["seconds"]),
                m["pairs"],
                m["recall"],
                m["precision"],
                measured[fastest]["median"] / m["median"],
            ]
            for name, m in measured.items()
        ],
    )
    if "nearly" in measured:
        gain = measured["nearly, 1 thread"]["median"] / measured["nearly"]["median"]
        print(f"nearly: all threads are {gain:.2f} times one thread")


def main() -> None:
    parser = harness.parser(__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=3, help="turns; nearly runs twice in each")
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = str(asked.threads)  # gaoya and rensa read it when imported
    path = harness.corpus(asked.data, "debian")
    contenders = {**PEERS, **nearly_contenders(asked.threads)}
    measured = {unit: measure(path, contenders, unit, asked.repeat) for unit in UNITS}
    for unit in UNITS:
        report(unit, measured[unit])
    harness.save("peers", {"threads": asked.threads, "units": measured})


if __name__ == "__main__":
    main()
