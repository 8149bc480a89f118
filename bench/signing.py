"""The signing kernel against the least it can cost: rolling the hash over the same bytes.

Both run on one thread, in turn, in one process, over the documents of 1 KB and more of several
corpora.

    python bench/signing.py [--data DIR] [--repeat 9]
"""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nearly.measures.jaccard import Jaccard
from nearly.pipeline import choose_banding
from nearly.settings import Settings, TextSettings

SHORTEST = 1_000
CORPORA = ("debian", "newsgroups", "licences")
K = 5


def long_documents(data: Path) -> dict[str, pa.Array]:
    """Documents of at least SHORTEST bytes, by corpus."""
    found = {}
    for name in CORPORA:
        texts = pq.read_table(harness.corpus(data, name), columns=["text"])["text"]
        long = texts.filter(pc.greater_equal(pc.binary_length(texts), SHORTEST))
        found[name] = pc.cast(long.combine_chunks(), pa.large_string())
    return found


def roller(texts: pa.Array) -> Callable[[], Any]:
    """The C++ loop, reading the Arrow buffers in place."""
    roll = ctypes.CDLL(str(harness.compiled("rolling.cpp", shared=True))).roll
    roll.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]
    roll.restype = ctypes.c_uint64
    _, offsets, data = texts.buffers()
    return lambda: roll(data.address, offsets.address, len(texts), K)


def signer(texts: pa.Array) -> Callable[[], Any]:
    """nearly's signing stage on one batch, with the bands that a run would choose."""
    settings = Settings(text=TextSettings(unit="char", k=K, raw=True), threshold=0.8)
    measure = Jaccard.of(settings)
    banding = choose_banding(measure, settings)
    return lambda: measure.sign(texts, banding)


def measure(texts: pa.Array, repeat: int) -> dict[str, Any]:
    """Megabytes a second of each, taken in turn; one round before counting warms both."""
    present = {"rolling": roller(texts), "signing": signer(texts)}
    size = pc.sum(pc.binary_length(texts)).as_py()
    speeds: dict[str, list[float]] = {name: [] for name in present}
    for turn in range(repeat + 1):
        for name, work in present.items():
            seconds, _ = harness.timed(work)
            if turn:
                speeds[name].append(size / seconds / 1e6)
    medians = {name: harness.median(speeds[name]) for name in present}
    ratio = medians["signing"] / medians["rolling"] if "signing" in medians else None
    return {"documents": len(texts), "bytes": size, "speeds": speeds, **medians, "ratio": ratio}


def main() -> None:
    parser = harness.parser(__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=9)
    asked = parser.parse_args()
    corpora = long_documents(asked.data)
    measured = {name: measure(texts, asked.repeat) for name, texts in corpora.items()}
    harness.show(
        ["corpus", "documents", "rolling MB/s", "signing MB/s", "signing / rolling"],
        [
            [name, m["documents"], m["rolling"], m.get("signing"), m["ratio"]]
            for name, m in measured.items()
        ],
    )
    harness.save("signing", {"k": K, "corpora": measured})


if __name__ == "__main__":
    main()
