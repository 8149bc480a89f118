"""Vectors at a cosine of 0.9: nearly, hashed and exact, beside FAISS's exact range search.

100,000 vectors of 256 numbers, three times: random directions, some of which have a near-copy;
dense groups of hundreds around such directions; and the embeddings of tweets, where strangers have
much in common. FAISS (IndexFlatIP) is asked for some of the vectors, and its time is scaled to all
of them; so is that of NumPy's products of the same vectors, which need no more than one library of
linear algebra. Everyone has one thread. What FAISS finds for those vectors has to be what the exact
join finds for them, up to the rounding of single precision at the threshold; the recall of hashing
is measured against the exact join.

    python bench/vectors.py [--queries 2000] [--times 3] [--prepare] [--data DIR]

To embed the tweets takes a while: --prepare does no more than that, and keeps them in bench/.cache.
"""

import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's, before it is imported

import harness
import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

import nearly

COUNT, LENGTH, THRESHOLD, RECALL = 100_000, 256, 0.9, 0.99
#: As far as single precision can be off.
ROUNDING = 1e-5

Vectors = npt.NDArray[np.float32]
Pairs = dict[tuple[int, int], float]


def unit(vectors: npt.NDArray[Any]) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def near(centres: Vectors, least: float, draw: np.random.Generator) -> Vectors:
    """A vector beside each of these, at any cosine from the least to 1."""
    cosines = draw.uniform(least, 1, (len(centres), 1))
    beside = draw.standard_normal(centres.shape)
    beside -= np.einsum("ij,ij->i", beside, centres)[:, None] * centres
    return unit(cosines * centres + np.sqrt(1 - cosines**2) * unit(beside))


def random_directions() -> Vectors:
    """One in ten has a near-copy."""
    draw = np.random.default_rng(1)
    vectors = unit(draw.standard_normal((COUNT, LENGTH)))
    vectors[-COUNT // 10 :] = near(vectors[: COUNT // 10], 0.8, draw)
    return draw.permutation(vectors)


def dense_groups() -> Vectors:
    """Groups of 400, in which cosines lie around the threshold; one half are strangers."""
    draw = np.random.default_rng(2)
    centres = unit(draw.standard_normal((COUNT // 800, LENGTH)))
    groups = near(np.repeat(centres, 400, axis=0), 0.9, draw)
    strangers = unit(draw.standard_normal((COUNT - len(groups), LENGTH)))
    return draw.permutation(np.concatenate([groups, strangers]))


def tweets(data: Path) -> Vectors:
    """Of 100,000 tweets, kept in the cache."""
    path = harness.CACHE / "tweet_vectors.npy"
    if not path.exists():
        from wordllama import WordLlama

        corpus = data / "tweets" / "troll-300k.parquet"
        if not corpus.is_file():
            sys.exit(f"There is no {corpus}. Give the folder of corpora by --data or NEARLY_DATA.")
        texts = pq.read_table(corpus, columns=["text"])["text"][:COUNT].to_pylist()
        folder = Path(sys.modules["wordllama"].__file__ or "").parent
        model = WordLlama.load(cache_dir=folder, disable_download=True)
        harness.CACHE.mkdir(exist_ok=True)
        np.save(path, model.embed(texts))
    vectors: Vectors = np.load(path)
    return vectors


def by_nearly(vectors: Vectors, method: str) -> Any:
    how: dict[str, Any] = {"measure": "cosine", "threshold": THRESHOLD, "recall": RECALL}
    return nearly.find(vectors, method=method, threads=1, all_pairs=True, **how)


def by_faiss(vectors: Vectors, queries: npt.NDArray[np.int64]) -> tuple[float, Pairs]:
    """The seconds that these queries take, and their pairs."""
    import faiss

    faiss.omp_set_num_threads(1)
    directions = unit(vectors)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(directions)
    seconds, (ends, products, others) = harness.timed(
        lambda: index.range_search(directions[queries], THRESHOLD)
    )
    first = np.repeat(queries, np.diff(ends.astype(np.int64)))
    return seconds, pairs_of(first, others, products)


def build_of_faiss() -> str:
    """Which of its builds was loaded, by the registers that it knows: wheels lack some of them."""
    import faiss  # noqa: F401

    known = [name for name in sys.modules if name.startswith("faiss.swigfaiss_")]
    return known[0].removeprefix("faiss.swigfaiss_") if known else "generic"


def by_products(vectors: Vectors, queries: npt.NDArray[np.int64]) -> float:
    """The seconds of all products of these queries in NumPy, and a look at each: what FAISS's own
    library of linear algebra takes for that differs between processors."""
    directions = unit(vectors)
    asked = directions[queries]
    return harness.timed(lambda: np.count_nonzero(asked @ directions.T >= THRESHOLD))[0]


def pairs_of(first: Any, second: Any, cosines: Any) -> Pairs:
    ends = zip(np.minimum(first, second).tolist(), np.maximum(first, second).tolist(), strict=True)
    return {pair: c for pair, c in zip(ends, cosines.tolist(), strict=True) if pair[0] != pair[1]}


def check(found: Any, theirs: Pairs, queries: npt.NDArray[np.int64]) -> None:
    """Whatever one side lacks lies on the threshold."""
    columns = (found.pairs[name].to_numpy() for name in ("id_a", "id_b", "similarity"))
    a, b, cosines = columns
    asked = np.isin(a, queries) | np.isin(b, queries)
    ours = pairs_of(a[asked], b[asked], cosines[asked])
    for pair in ours.keys() ^ theirs.keys():
        cosine = ours.get(pair, theirs.get(pair, 0.0))
        assert abs(cosine - THRESHOLD) < ROUNDING, f"{pair} at {cosine}"


def measure(vectors: Vectors, count: int, times: int) -> dict[str, Any]:
    queries = np.sort(np.random.default_rng(3).choice(len(vectors), count, replace=False))
    part, theirs = by_faiss(vectors, queries)
    exact, every = harness.timed(lambda: by_nearly(vectors, "exact"))
    check(every, theirs, queries)
    runs = [harness.timed(lambda: by_nearly(vectors, "lsh")) for _ in range(times)]
    hashed, found = harness.median(seconds for seconds, _ in runs), runs[0][1]
    share = len(vectors) / count
    faiss, products = share * part, share * by_products(vectors, queries)
    return {
        "pairs": len(every),
        "seconds": {"faiss": faiss, "products": products, "exact": exact, "hashed": hashed},
        "recall": len(found) / len(every),
        "times": {"exact": faiss / exact, "hashed": faiss / hashed},
        "bands": found.statistics.bands,
        "rows": found.statistics.rows,
        "meetings": found.statistics.meetings,
        "stages": found.statistics.seconds,
    }


def main() -> None:
    parser = harness.parser(__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--prepare", action="store_true")
    options = parser.parse_args()
    embedded = tweets(options.data)
    if options.prepare:
        return
    corpora = {"random": random_directions(), "groups": dense_groups(), "tweets": embedded}
    measured = {
        name: measure(vectors, options.queries, options.times) for name, vectors in corpora.items()
    }
    headings = [
        "",
        "pairs",
        "FAISS",
        "products",
        "exact",
        "hashed",
        "recall",
        "times exact",
        "times hashed",
    ]
    rows = [
        [name, line["pairs"], *line["seconds"].values(), line["recall"], *line["times"].values()]
        for name, line in measured.items()
    ]
    harness.show(headings, rows)
    build = build_of_faiss()
    print(f"FAISS's build: {build}")
    harness.save(
        "vectors",
        {"queries": options.queries, "threshold": THRESHOLD, "faiss_build": build, **measured},
    )


if __name__ == "__main__":
    main()
