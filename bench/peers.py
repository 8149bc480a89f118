"""The whole job on six corpora: nearly against its peers.

Each contender reads the Parquet file, shingles, signs (peers: 128 permutations), and asks for
the neighbours of every document at threshold 0.8, with 5-shingles of characters and of words.
All run in one process, in turn, so that a slow minute of the machine hits them all. Recall and
precision are against the exact truth of `truth.py` on debian; on the others, whose truth it would
take minutes and gigabytes to find, against nearly's exact join, which the tests hold to the truth.
What is measured is added to what results/peers.json has; `peers_picture.py` draws it.

The fast ones, gaoya and rensa, take turns with nearly. Slower ones run once, on debian, if they are
asked for by name: datasketch, an exact join in plain SQL, and pipelines (`pipelines.py`), which
need an environment of their own, whose Python is given by `--environment`.

    python bench/peers.py [--data DIR] [--corpus debian …] [--repeat 3] [--threads 2]
        [--others datasketch sql text-dedup datatrove daft] [--environment PYTHON] [--only-others]
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import harness
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from judge import Judge

CORPORA = {
    "debian": "debian/docs.parquet",
    "tweets": "tweets/troll-300k.parquet",
    "licences": "licences/docs.parquet",
    "newsgroups": "newsgroups/docs.parquet",
    "debian-fr": "debian-i18n/fr.parquet",
    "debian-ja": "debian-i18n/ja.parquet",
}
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


def run_sql(path: Path, unit: str) -> pa.Table:
    """Every pair that shares a shingle, counted by DuckDB: exact, and nothing but SQL."""
    import duckdb

    if unit != "word":
        raise ValueError("by characters, too many pairs share a shingle for it to end")
    return duckdb.sql(SQL.format(path=path, k=K, threshold=THRESHOLD)).to_arrow_table()


#: A shorter document is one shingle; spaces are what `str.split` takes for spaces, of ASCII.
SQL = """
WITH documents AS (
    SELECT id, row_number() OVER () AS document,
           list_filter(regexp_split_to_array(text, '\\s+'), lambda word: word <> '') AS words
    FROM '{path}'),
shingles AS (
    SELECT DISTINCT document, hash(words[i:i + {k} - 1]) AS shingle
    FROM documents, range(1, greatest(len(words) - {k} + 2, 2)) AS r(i) WHERE len(words) > 0),
sizes AS (SELECT document, count(*) AS size FROM shingles GROUP BY document),
shared AS (
    SELECT a.document AS a, b.document AS b, count(*) AS n
    FROM shingles a JOIN shingles b ON a.shingle = b.shingle AND a.document < b.document
    GROUP BY ALL)
SELECT x.id AS id_a, y.id AS id_b, n / (s.size + t.size - n) AS similarity
FROM shared JOIN sizes s ON s.document = a JOIN sizes t ON t.document = b
JOIN documents x ON x.document = a JOIN documents y ON y.document = b
WHERE n >= {threshold} * (s.size + t.size - n)
"""

PEERS: dict[str, Contender] = {"gaoya": run_gaoya, "rensa": run_rensa}
#: Does not end within two minutes: every copy of a text is a neighbour of every other.
ENDLESS = {("gaoya", "tweets", "word")}
#: Slower by far, or of another kind: each runs once, on debian, if it is asked for.
OTHERS: dict[str, Contender] = {"datasketch": run_datasketch, "sql": run_sql}
PIPELINES = ("text-dedup", "datatrove", "daft")
#: By characters too many pairs share a shingle, and pipelines cut words only.
BY_CHARACTERS = ("datasketch",)


def run_pipeline(name: str, python: Path, path: Path) -> dict[str, Any]:
    """What `pipelines.py` measured in an environment of its own: seconds, and pairs of rows."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = Path(folder) / "pairs.npy"
        said = subprocess.run(
            [python, harness.BENCH / "pipelines.py", name, path, pairs],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        seconds = json.loads(said.stdout.splitlines()[-1])["seconds"]
        return {"seconds": [seconds], "pairs": np.load(pairs)}


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
        command += ["--quiet", "-o", str(pairs)]
        subprocess.run(command, check=True, env=harness.installed())
        return pq.read_table(pairs)


def exact_pairs(path: Path, unit: str) -> pa.Table:
    """Rows of all pairs and their similarities, by nearly's exact join."""
    import nearly

    ids = pq.read_table(path, columns=["id"])["id"].to_pylist()
    rows = {name: row for row, name in enumerate(ids)}
    found = nearly.find(
        str(path), id="id", text="text", unit=unit, k=K, threshold=THRESHOLD, raw=True,
        all_pairs=True, method="exact",
    ).pairs  # fmt: skip
    a, b = ([rows[name] for name in found[side].to_pylist()] for side in ("id_a", "id_b"))
    pairs = pa.table({"a": a, "b": b, "similarity": found["similarity"]})
    return pairs.sort_by([("a", "ascending"), ("b", "ascending")])


def judge_of(path: Path, unit: str) -> Judge:
    """The truth of a corpus, by `truth.py` on debian."""
    exact = None if path.parent.name == "debian" else exact_pairs(path, unit)
    return Judge(path, unit, K, THRESHOLD, exact=exact)


def measure_others(path: Path, unit: str, names: list[str], python: Path | None) -> dict[str, Any]:
    """Each of these once, with the quality of its answer."""
    judge = judge_of(path, unit)
    measured: dict[str, Any] = {}
    for name in names:
        if unit == "char" and name not in BY_CHARACTERS:
            continue
        if name in OTHERS:
            seconds, answer = harness.timed(partial(OTHERS[name], path, unit))
            measured[name] = {"seconds": [seconds], **judge.quality(answer)}
        elif python is not None:
            told = run_pipeline(name, python, path)
            measured[name] = {**told, **judge.quality_of_rows(told["pairs"])}
        measured[name]["median"] = measured[name]["seconds"][0]
    return measured


def measure(path: Path, contenders: dict[str, Contender], unit: str, repeat: int) -> dict[str, Any]:
    """Seconds of every repetition, taken in turn, and the quality of each answer.

    A fast contender runs twice a turn: its time is the one that needs more repetitions.
    """
    judge = judge_of(path, unit)
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


def report(corpus: str, unit: str, measured: dict[str, Any]) -> None:
    """The table of one unit, and the ratios that are promised."""
    print(f"\n{corpus}, {unit} k={K}, threshold {THRESHOLD}")
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
    parser.add_argument("--corpus", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--repeat", type=int, default=3, help="turns; nearly runs twice in each")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--others", nargs="+", choices=[*OTHERS, *PIPELINES], default=[])
    parser.add_argument("--environment", type=Path, help="the Python that has the pipelines")
    parser.add_argument("--only-others", action="store_true", help="keep what is known of the rest")
    asked = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = str(asked.threads)  # gaoya and rensa read it when imported
    contenders = {**PEERS, **nearly_contenders(asked.threads)}
    results = harness.RESULTS / "peers.json"
    known = json.loads(results.read_text()).get("corpora", {}) if results.exists() else {}
    for name in asked.corpus:
        path = asked.data / CORPORA[name]
        for unit in UNITS:
            of_unit = known.setdefault(name, {}).setdefault(unit, {})
            if not asked.only_others:
                taking = {w: c for w, c in contenders.items() if (w, name, unit) not in ENDLESS}
                of_unit |= measure(path, taking, unit, asked.repeat)
            if name == "debian":
                of_unit |= measure_others(path, unit, asked.others, asked.environment)
            report(name, unit, of_unit)
            harness.save("peers", {"threads": asked.threads, "corpora": known})


if __name__ == "__main__":
    main()
