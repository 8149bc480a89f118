"""An index of ten million documents, asked by a process that has 2 GB of memory.

    python bench/index_limit.py [--documents 10000000] [--limit 2000000000] [--prepare]

The documents are those of `index.py`: tweets and made ones. The limit is that of a control group,
so pages of files that the process maps count as well; nothing of the index is in memory at first.
The first questions are counted apart: they find little in memory.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import harness
import index as index_bench
import numpy as np
import pyarrow.parquet as pq

import nearly

GROUPS = Path("/sys/fs/cgroup")


def made(data: Path, documents: int) -> Path:
    """The index; made once."""
    path = harness.CACHE / f"index-{documents}"
    if not path.exists():
        index_bench.make_corpus(data, documents)
        source = index_bench.corpus_path(documents)
        options = {"id": "id", "text": "text", "threshold": index_bench.THRESHOLD}
        seconds, index = harness.timed(lambda: nearly.Index.create(path, source, **options))
        index.close()
        (harness.CACHE / f"index-{documents}.seconds").write_text(str(seconds))
    return path


def sample(documents: int, count: int) -> list[str]:
    """Texts from all over the corpus."""
    file = pq.ParquetFile(index_bench.corpus_path(documents))
    each = -(-count // file.num_row_groups)
    draw = np.random.default_rng(3)
    texts: list[str] = []
    for group in range(file.num_row_groups):
        column = file.read_row_group(group, ["text"]).column("text")
        texts += column.take(draw.integers(0, len(column), each)).to_pylist()
    return texts


def forget(path: Path) -> None:
    """Take the files of the index out of memory."""
    for file in path.rglob("*"):
        if file.is_file():
            descriptor = os.open(file, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


class Group:
    """A control group with a limit on memory."""

    def __init__(self, limit: int) -> None:
        self._is_second = (GROUPS / "cgroup.controllers").exists()
        self._place = (GROUPS if self._is_second else GROUPS / "memory") / f"nearly-{os.getpid()}"
        self._place.mkdir()
        name = "memory.max" if self._is_second else "memory.limit_in_bytes"
        (self._place / name).write_text(str(limit))

    def join(self) -> None:
        """Called by the child."""
        (self._place / "cgroup.procs").write_text(str(os.getpid()))

    def most(self) -> int:
        """Bytes that were held at most, pages of files among them."""
        name = "memory.peak" if self._is_second else "memory.max_usage_in_bytes"
        return int((self._place / name).read_text())

    def remove(self) -> None:
        self._place.rmdir()


def ask(path: str, questions: str) -> None:
    """In the child: the first questions, then all that follow; as JSON."""
    asked = json.loads(Path(questions).read_text())
    with nearly.Index.open(path, read_only=True) as reader:
        first, rest = asked[:1000], asked[1000:]
        warm = rest[: -len(rest) // 4]
        measured: dict[str, Any] = {
            "first": index_bench.latencies(reader.query, first, before=0),
            "warming": index_bench.latencies(reader.query, warm, before=0),
            "query": index_bench.latencies(reader.query, rest[len(warm) :], before=0),
            "found": sum(len(reader.query(text)) > 0 for text in first) / len(first),
            "own_bytes": index_bench.anonymous(),
            "questions": [len(first), len(warm), len(rest) - len(warm)],
            **index_bench.room(reader),
        }
    print(json.dumps(measured))


def main() -> None:
    parser = harness.parser(__doc__)
    parser.add_argument("--documents", type=int, default=10_000_000)
    parser.add_argument("--questions", type=int, default=41_000)
    parser.add_argument("--limit", type=int, default=2_000_000_000, help="bytes")
    parser.add_argument("--prepare", action="store_true", help="only make the index")
    parser.add_argument("--ask", nargs=2, help="what the child does")
    given = parser.parse_args()
    if given.ask is not None:
        ask(*given.ask)
        return
    path = made(given.data, given.documents)
    if given.prepare:
        return
    forget(path)
    group = Group(given.limit)
    try:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as questions:
            texts = sample(given.documents, given.questions)
            json.dump(index_bench.questions(texts, given.questions), questions)
            questions.flush()
            command = [sys.executable, __file__, "--ask", str(path), questions.name]
            said = subprocess.run(
                command, stdout=subprocess.PIPE, check=True, text=True, preexec_fn=group.join
            )
            measured = json.loads(said.stdout)
            measured |= {"limit": given.limit, "group_bytes": group.most()}
    finally:
        group.remove()
    measured["create_s"] = float((harness.CACHE / f"index-{given.documents}.seconds").read_text())
    rows = [[name, *measured[name].values()] for name in ("first", "warming", "query")]
    harness.show(["questions", "p50_ms", "p99_ms", "mean_ms"], rows)
    flat = {k: v for k, v in measured.items() if not isinstance(v, dict | list)}
    harness.show(["what", "measured"], flat.items())
    harness.save("index_limit", {"documents": given.documents, **measured})


if __name__ == "__main__":
    main()
