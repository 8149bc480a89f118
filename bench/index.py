"""The index: bulk adds beside `find`, one durable add, questions, room, and peers.

    python bench/index.py [--documents 1000000] [--questions 5000] [--peers 20000]

The documents are 300,000 tweets and made ones: tweets of which some words are replaced by words of
other tweets. Questions are tweets of which one word in eight is changed, and tweets as they are.
Peers hold the first `--peers` documents, for they are slow, and are asked the same questions, each
signed on the way: datasketch's MinHashLSH with a Redis server that is started here, by its own
bands and by ours, and Lance's MINHASHLSH index. Only nearly verifies its answers. Recall and
precision are against exact truth.
"""

import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import nearly

THRESHOLD = 0.8
PERMUTATIONS = 128


def corpus_path(documents: int) -> Path:
    """Where it is kept."""
    return harness.CACHE / f"tweets-{documents}.parquet"


def make_corpus(data: Path, documents: int) -> None:
    """Tweets first, then made ones, from a seed; made once."""
    harness.CACHE.mkdir(exist_ok=True)
    path = corpus_path(documents)
    if not path.exists():
        tweets = pq.read_table(data / "tweets" / "troll-300k.parquet", columns=["text"])
        texts = tweets.column("text").to_pylist()[:documents]
        texts += made(texts, documents - len(texts))
        ids = pa.array([f"t{i}" for i in range(len(texts))])
        pq.write_table(pa.table({"id": ids, "text": pa.array(texts)}), path)


def corpus(data: Path, documents: int) -> pa.Table:
    """All of it."""
    make_corpus(data, documents)
    return pq.read_table(corpus_path(documents))


def made(texts: list[str], count: int) -> list[str]:
    """Tweets of which 20% to 100% of the words are those of other tweets."""
    draw = np.random.default_rng(1)
    words = np.array(" ".join(texts[:20_000]).split(" "), object)
    found = []
    for source, share in zip(
        draw.integers(0, len(texts), count).tolist(),
        draw.uniform(0.2, 1, count).tolist(),
        strict=True,
    ):
        mine = np.array(texts[source].split(" "), object)
        is_other = draw.random(len(mine)) < share
        mine[is_other] = words[draw.integers(0, len(words), int(is_other.sum()))]
        found.append(" ".join(mine.tolist()))
    return found


def questions(texts: list[str], count: int) -> list[str]:
    """Half of them as they are, half with one word in eight changed."""
    draw = np.random.default_rng(2)
    asked = []
    for place in draw.integers(0, len(texts), count).tolist():
        words = texts[place].split(" ")
        if len(asked) % 2:
            for i in range(0, len(words), 8):
                words[i] = words[i][::-1]
        asked.append(" ".join(words))
    return asked


def latencies(ask: Callable[[str], Any], asked: list[str], before: int = 100) -> dict[str, float]:
    """Milliseconds, question by question, after some that do not count."""
    for text in asked[:before]:
        ask(text)
    taken = []
    for text in asked:
        start = time.perf_counter()
        ask(text)
        taken.append(1e3 * (time.perf_counter() - start))
    p50, p99 = np.percentile(taken, [50, 99]).tolist()
    return {"p50_ms": p50, "p99_ms": p99, "mean_ms": float(np.mean(taken))}


def room(index: nearly.Index) -> dict[str, float]:
    """Bytes a document, without and with its compressed text."""
    stats = index.stats()
    texts = sum(live.segment.text_bytes for live in index._store.lives())
    return {
        "bytes": stats.bytes / stats.documents,
        "beyond_text": (stats.bytes - texts) / stats.documents,
        "segments": stats.segments,
    }


def anonymous() -> int:
    """Bytes that this process holds, without what is mapped from files."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["RssAnon"].split()[0]) * 1024


def middle_and_slow(taken: list[float]) -> dict[str, float]:
    return dict(zip(("p50", "p99"), np.percentile(taken, [50, 99]).tolist(), strict=True))


def bare_commits(folder: Path) -> dict[str, float]:
    """Milliseconds of a durable commit of one row by SQLite alone: what no add can be below."""
    connection = sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, data BLOB)")
    taken = []
    for i in range(300):
        start = time.perf_counter()
        connection.execute("INSERT INTO rows VALUES (?, ?)", (i, bytes(500)))
        taken.append(1e3 * (time.perf_counter() - start))
    connection.close()
    return middle_and_slow(taken)


def crowds(texts: list[str], folder: Path) -> dict[str, dict[str, float]]:
    """Questions to a family of texts that share buckets, of a hundred members and of ten thousand.

    The members are texts of 25 words of which one differs, and lie among 50,000 tweets.
    """
    words = np.array(" ".join(texts[:5_000]).split(" "), object)
    measured = {}
    for members in (100, 10_000):
        draw = np.random.default_rng(3)
        family = np.tile(draw.choice(words, 25), (members + 50, 1))
        places = draw.integers(0, 25, len(family))
        family[np.arange(len(family)), places] = draw.choice(words, len(family))
        held, asked = np.split(np.array([" ".join(row) for row in family], object), [members])
        together = [*texts[:50_000], *held.tolist()]
        order = draw.permutation(len(together)).tolist()
        place = folder / f"crowd-{members}"
        with nearly.Index.create(
            place, {f"c{i}": together[i] for i in order}, threshold=THRESHOLD, k=5, seed=3
        ) as index:
            answers = [index.query(text) for text in asked.tolist()]
            measured[f"crowd of {members:,}"] = {
                **latencies(index.query, asked.tolist() * 20),
                "answers": float(np.mean([len(answer) for answer in answers])),
                "compared": float(np.mean([answer.compared for answer in answers])),
                "left_out": float(np.mean([answer.left_out for answer in answers])),
            }
    return measured


def ours(table: pa.Table, asked: list[str], folder: Path) -> dict[str, Any]:
    nearly.find(table.slice(0, 1000), threshold=THRESHOLD, id="id", text="text")  # imports
    found, _ = harness.timed(
        lambda: nearly.find(table, id="id", text="text", threshold=THRESHOLD, method="lsh")
    )
    created, index = harness.timed(
        lambda: nearly.Index.create(
            folder / "one", table, id="id", text="text", threshold=THRESHOLD
        )
    )
    with nearly.Index.create(folder / "two", threshold=THRESHOLD, k=5) as other:
        added, _ = harness.timed(lambda: other.add(table, id="id", text="text"))
    one, busy = [], []
    for i, text in enumerate(made(table.column("text").slice(0, 20_000).to_pylist(), 300)):
        before = time.process_time()
        seconds, _ = harness.timed(lambda text=text, i=i: index.add({f"one{i}": text}))
        one.append(1e3 * seconds)
        busy.append(1e3 * (time.process_time() - before))
    index.close()
    before = anonymous()
    with nearly.Index.open(folder / "one", read_only=True) as reader:
        measured = {
            "documents": table.num_rows,
            "find_s": found,
            "create_s": created,
            "add_s": added,
            "create_per_second": table.num_rows / created,
            "add_per_second": table.num_rows / added,
            "add_one_ms": middle_and_slow(one),
            "add_one_processor_ms": middle_and_slow(busy),
            "bare_commit_ms": bare_commits(folder),
            "query": latencies(reader.query, asked),
            "room": room(reader),
        }
        measured["reader_bytes"] = anonymous() - before
    return measured


def truth(texts: list[str], asked: list[str]) -> list[set[int]]:
    """Every document that is similar enough, exactly."""
    both = {f"d{i}": text for i, text in enumerate(texts)}
    both |= {f"q{i}": text for i, text in enumerate(asked)}
    found = nearly.find(both, threshold=THRESHOLD, method="exact", k=5, all_pairs=True)
    near: list[set[int]] = [set() for _ in asked]
    for a, b in zip(
        *(found.pairs.column(name).to_pylist() for name in ("id_a", "id_b")), strict=True
    ):
        if a[0] == "d" and b[0] == "q":
            near[int(b[1:])].add(int(a[1:]))
    return near


def quality(answers: list[set[int]], near: list[set[int]]) -> dict[str, float]:
    right = sum(len(a & b) for a, b in zip(answers, near, strict=True))
    return {
        "recall": right / max(1, sum(map(len, near))),
        "precision": right / max(1, sum(map(len, answers))),
    }


def shingles(text: str) -> set[bytes]:
    normal = " ".join(text.casefold().split())
    return {normal[i : i + 5].encode() for i in range(max(1, len(normal) - 4))}


def nearly_peer(texts: list[str], folder: Path) -> tuple[float, Callable[[str], set[int]]]:
    index = nearly.Index.create(folder / "peer", threshold=THRESHOLD, k=5)
    seconds, _ = harness.timed(lambda: index.add(dict(enumerate(texts))))
    return seconds, lambda text: {name for name, _ in index.query(text)}


def redis_server(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """A server of our own, on the loopback; it keeps nothing."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    server = subprocess.Popen([*command, "--dir", str(folder)], stdout=subprocess.DEVNULL)
    while socket.socket().connect_ex(("127.0.0.1", port)):
        time.sleep(0.05)
    return server, port


def redis_peer(
    texts: list[str], port: int, bands: tuple[int, int] | None = None
) -> tuple[float, Callable[[str], set[int]]]:
    """With the bands that datasketch chooses, or with others."""
    from datasketch import MinHash, MinHashLSH

    number = 0 if bands is None else 1
    config = {"type": "redis", "redis": {"host": "127.0.0.1", "port": port, "db": number}}
    permutations = PERMUTATIONS if bands is None else bands[0] * bands[1]
    lsh = MinHashLSH(
        threshold=THRESHOLD, num_perm=permutations, params=bands, storage_config=config
    )

    def signed(text: str) -> Any:
        made = MinHash(num_perm=permutations)
        made.update_batch(list(shingles(text)))
        return made

    def load() -> None:
        with lsh.insertion_session() as session:
            for number, text in enumerate(texts):
                session.insert(f"{number}", signed(text), check_duplication=False)

    seconds, _ = harness.timed(load)
    return seconds, lambda text: {int(name) for name in lsh.query(signed(text))}


def lance_peer(texts: list[str], folder: Path) -> tuple[float, Callable[[str], set[int]]]:
    """Lance estimates similarity from signatures. It is told to cut runs of five characters."""
    import lance
    from lance.indices import IndexConfig
    from lance.query import MinHashQuery

    numbers = pa.array(range(len(texts)))
    table = pa.table({"number": numbers, "text": [" ".join(t.casefold().split()) for t in texts]})
    made = lance.write_dataset(table, folder / "peer.lance")
    cut = {"base_tokenizer": "ngram", "min_ngram_length": 5, "max_ngram_length": 5}
    config = IndexConfig("minhashlsh", {"shingle_size": 1, "tokenizer": cut})
    seconds, _ = harness.timed(lambda: made.create_scalar_index("text", config))
    opened = lance.dataset(made.uri)

    def ask(text: str) -> set[int]:
        nearest = MinHashQuery(" ".join(text.casefold().split()), "text")
        found = opened.to_table(["number", "_distance"], nearest=nearest, limit=100)
        pairs = zip(found["number"].to_pylist(), found["_distance"].to_pylist(), strict=True)
        return {number for number, distance in pairs if distance <= 1 - THRESHOLD + 1e-6}

    return seconds, ask


def beside(texts: list[str], asked: list[str], folder: Path) -> dict[str, Any]:
    """The same questions to all."""
    near = truth(texts, asked)
    measured: dict[str, Any] = {"documents": len(texts), "questions": len(asked)}

    def measure(name: str, made: tuple[float, Callable[[str], set[int]]]) -> None:
        seconds, ask = made
        answers = [ask(text) for text in asked]
        measured[name] = {"load_s": seconds, **latencies(ask, asked), **quality(answers, near)}

    measure("nearly", nearly_peer(texts, folder))
    measure("Lance", lance_peer(texts, folder))
    if shutil.which("redis-server") is not None:
        server, port = redis_server(folder)
        try:
            measure("datasketch on Redis", redis_peer(texts, port))
            measure("the same, 26 bands of 8 rows", redis_peer(texts, port, (26, 8)))
        finally:
            server.terminate()
            server.wait()
    return measured


def main() -> None:
    parser = harness.parser(__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=5_000)
    parser.add_argument("--peers", type=int, default=20_000)
    parser.add_argument("--prepare", action="store_true", help="only make the documents")
    given = parser.parse_args()
    table = corpus(given.data, given.documents)
    if given.prepare:
        return
    texts = table.column("text").to_pylist()
    with tempfile.TemporaryDirectory(dir=harness.CACHE) as folder:
        place = Path(folder)
        measured = ours(table, questions(texts, given.questions), place)
        some = texts[: given.peers]
        measured |= crowds(texts, place)
        peers = beside(some, questions(some, 500), place) if given.peers else {}
    flat = {k: v for k, v in measured.items() if not isinstance(v, dict)}
    for name, found in measured.items():
        if isinstance(found, dict):
            flat |= {f"{name} {key}": value for key, value in found.items()}
    harness.show(["what", "measured"], flat.items())
    contenders = [name for name, found in peers.items() if isinstance(found, dict)]
    columns = ["load_s", "p50_ms", "p99_ms", "recall", "precision"]
    harness.show(["peer", *columns], [[n, *(peers[n][c] for c in columns)] for n in contenders])
    harness.save("index", {"threshold": THRESHOLD, "index": measured, "peers": peers})


if __name__ == "__main__":
    main()
