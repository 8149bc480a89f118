"""Reads mutated files until the time is over; run as a process, because a crash would end it.

    python fuzz.py FOLDER SEED SECONDS CASES KIND...

Each case is noted in FOLDER/case before it is tried: what is there after a crash did it. One line
of JSON at the end says how many there were of what outcome.
"""

import gzip
import hashlib
import json
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
from ordeal import TEXTS

import nearly
from nearly.index import addition
from nearly.plans import check_plan, load_plan
from nearly.sources import read_table
from nearly.sources.formats import cut_record, duck
from nearly.sources.formats.database import Database

ROWS = [{"id": i, "text": text, "more": [i, None]} for i, text in enumerate(TEXTS * 2)]
#: Objects that are long by what is deep in them, and by very many names.
LONG_ROWS = [
    {
        "id": i,
        "text": text,
        "more": {f"n{j}": j for j in range(230 if i == 2 else 3)},
        "deep": [[i], [{"a": {"b": [1, "x", None]}, "c": "d"}] * i],
    }
    for i, text in enumerate(TEXTS)
]
TABLE = pa.Table.from_pylist(ROWS)
VECTORS = pa.table({"id": range(8), "vector": [[float(i % 3), 1.0, -i] for i in range(8)]})
#: What breaks parsers: ends of lines, quotes, marks of encodings, numbers at their limits.
PIECES = [b"\0", b"\n", b"\r", b'"', b",", b"\t", b"{", b"}", b"[", b"]", b"\\", b"\xff", b"\xfe"]
PIECES += [b"\xef\xbb\xbf", b"\xff\xfe\0\0", b"\\ud800", b"1e999", b"-1", b"9" * 30, b"null", b":"]
PIECES += [b"\x7f\xff\xff\xff", b"\xff" * 8, b"\x80\0\0\0", b"PAR1", b"ARROW1", b"\xed\xa0\x80"]


def arrow_file(*, stream: bool) -> bytes:
    sink = pa.BufferOutputStream()
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(sink, TABLE.schema) as writer:
        writer.write_table(TABLE)
    return bytes(sink.getvalue())


def parquet_file(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue())


def csv_file(delimiter: str) -> bytes:
    rows = [f'{row["id"]}{delimiter}"{row["text"]}"{delimiter}x' for row in ROWS]
    return "\n".join([delimiter.join(("id", "text", "more")), *rows, ""]).encode()


def plan_file(folder: Path) -> bytes:
    hashes = {"sha256": "0" * 64, "survivor_sha256": "f" * 64}
    removal = {"path": "a", "survivor": "b/c", "similarity": 0.9, "bytes": 3, **hashes}
    plan = {"version": 1, "folder": str(folder), "settings": {}, "removals": [removal]}
    return json.dumps(plan, indent=1).encode()


def find(path: Path) -> None:
    nearly.find(path, threshold=0.5, threads=1)  # threads take time to start


def find_long(path: Path) -> None:
    """As objects of many megabytes are read: each column of each is in pieces."""
    with (
        mock.patch.multiple(duck, ABRIDGED_FROM=30, CUT_BYTES=4_000),
        mock.patch.multiple(cut_record, PIECE=50, MOST_NAMES=210),
        mock.patch.object(duck.JsonPart, "_has_long_objects", path.suffix == ".json"),
    ):
        nearly.find(path, threshold=0.5, threads=1)
        read_table(str(path), temporary=path.parent)


def find_items(path: Path) -> None:
    nearly.find(path, items="items", threshold=0.5, threads=1)


def find_vectors(path: Path) -> None:
    nearly.find(path, vector="vector", threshold=0.5, threads=1)


def find_passages(path: Path) -> None:
    nearly.passages(path, threads=1)


def weigh(path: Path) -> None:
    nearly.find(TEXTS, unit="word", k=1, weights=str(path), threads=1)


def read(path: Path) -> None:
    read_table(str(path), temporary=path.parent)


def check(path: Path) -> None:
    check_plan(load_plan(path))


def ask(path: Path) -> None:
    """An index that has a mutated file."""
    with nearly.Index.open(
        path.parent if path.parent.name == "index" else path.parent.parent
    ) as it:
        it.query(TEXTS[0])
        it.check()
        it.add({"new": TEXTS[1]})


def open_saved(path: Path) -> None:
    """A saved result in which the sums were made to fit what was mutated: by a stranger."""
    sign(path)
    found = nearly.open(path.parent)
    for table in (found.pairs, found.clusters, found.skipped):
        table.to_pylist()


def sign(path: Path) -> None:
    """Make the sums of a saved result fit, where its JSON can be read."""
    about = path.parent / "result.json"
    try:
        members = json.loads(about.read_bytes())
        if path != about:
            members["tables"][path.stem]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        del members["sha256"]
        members["sha256"] = hashlib.sha256(json.dumps(members, sort_keys=True).encode()).hexdigest()
        about.write_text(json.dumps(members))
    except (ValueError, KeyError, TypeError, AttributeError):
        return


@dataclass(frozen=True)
class Kind:
    """What is mutated: a file, who reads it, and the files of its folder, which are laid anew."""

    path: Path
    data: bytes
    act: Callable[[Path], None]
    beside: Mapping[Path, bytes] = field(default_factory=dict)

    def lay(self, data: bytes) -> None:
        if self.beside:
            shutil.rmtree(self.root)
        for path, content in self.beside.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        self.path.write_bytes(data)

    @property
    def root(self) -> Path:
        return min((path.parent for path in self.beside), key=lambda folder: len(folder.parts))


def kinds(folder: Path) -> dict[str, list[Kind]]:
    """All that is mutated, by what it is."""
    lines = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    pairs = b"id_a,id_b,similarity\n1,2,0.9\n2,3,0.8\n"
    weights = b"item,weight\nfox,2.5\nthe,0.1\nsun,1\nlazy,0\n,0.5\n"
    long_lines = "".join(json.dumps(row) + "\n" for row in LONG_ROWS).encode()
    files = {
        "CSV": ("f.csv", csv_file(","), find),
        "TSV": ("f.tsv", csv_file("\t"), find),
        "JSON": ("f.json", json.dumps(ROWS).encode(), find),
        "JSONL": ("f.jsonl", lines, find),
        "long JSON": ("long.json", json.dumps(LONG_ROWS).encode(), find_long),
        "long JSONL": ("long.jsonl", long_lines, find_long),
        "JSONL, gzip": ("f.jsonl.gz", gzip.compress(lines, mtime=0), find),
        "JSONL, Zstandard": ("f.jsonl.zst", pa.compress(lines, "zstd", asbytes=True), find),
        "items": ("items.jsonl", lines.replace(b"more", b"items"), find_items),
        "passages": ("passages.jsonl", lines, find_passages),
        "weights": ("weights.csv", weights, weigh),
        "Parquet": ("f.parquet", parquet_file(TABLE), find),
        "vectors": ("vectors.parquet", parquet_file(VECTORS), find_vectors),
        "Arrow": ("f.arrow", arrow_file(stream=False), find),
        "Arrow stream": ("s.arrow", arrow_file(stream=True), find),
        "text": ("f.txt", TEXTS[0].encode(), find),
        "plan": ("plan.json", plan_file(folder), check),
        "saved pairs": ("pairs.csv", pairs, read),
    }
    made = {kind: [Kind(folder / name, data, act)] for kind, (name, data, act) in files.items()}
    return made | {"saved result": saved(folder / "saved"), "index": index(folder / "index")}


def saved(folder: Path) -> list[Kind]:
    nearly.find(TEXTS, threshold=0.3, threads=1).save(folder)
    return of_folder(folder, open_saved)


def index(folder: Path) -> list[Kind]:
    addition.PENDING = 2  # or there is no segment yet
    texts = {f"n{i}": text for i, text in enumerate(TEXTS)}
    with nearly.Index.create(folder, texts, threshold=0.5, seed=1) as made:
        made.add({"z": "what is pending"})
    return of_folder(folder, ask)


def of_folder(folder: Path, act: Callable[[Path], None]) -> list[Kind]:
    files = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return [Kind(path, data, act, files) for path, data in files.items() if data]


#: So many are tried in any case, on a machine that stands still for a while, too.
FEWEST = 80


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A few changes: flipped bits, pieces put in, doubled, cut out, or an early end."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 8))):
        at = chance.randrange(len(changed) + 1)
        width = chance.choice((1, 1, 2, 8, 50))
        match chance.randrange(6):
            case 0 if at < len(changed):
                changed[at] ^= 1 << chance.randrange(8)
            case 1:
                changed[at:at] = chance.choice(PIECES)
            case 2:
                piece = chance.choice(PIECES)
                changed[at : at + len(piece)] = piece
            case 3:
                changed[at:at] = changed[at : at + width]
            case 4:
                del changed[at : at + width]
            case 5 if chance.random() < 0.3:
                del changed[at:]
    return bytes(changed)


def share_a_database(folder: Path) -> None:
    """One database reads all files: to make one takes 40 ms, and reads nothing."""
    shared = Database(folder, threads=1).connect()
    Database.connect = lambda _: shared.cursor()  # type: ignore[method-assign]


def main() -> None:
    folder, seed = Path(sys.argv[1]), sys.argv[2]
    (folder / "case").write_text("before the first case")
    counts: Counter[str] = Counter()
    share_a_database(folder)
    given = {kind: made for kind, made in kinds(folder).items() if kind in sys.argv[5:]}
    number, cases, end = 0, int(sys.argv[4]), time.monotonic() + float(sys.argv[3])
    while number < cases and (number < FEWEST or time.monotonic() < end):
        chance = random.Random(f"{seed} {number}")
        name = chance.choice(list(given))
        kind = chance.choice(given[name])
        kind.lay(mutated(kind.data, chance))
        (folder / "case").write_text(f"seed {seed}, case {number}, {name}, {kind.path.name}")
        try:
            kind.act(kind.path)
            counts[f"{name} read"] += 1
        except nearly.NearlyError:
            counts[f"{name} refused"] += 1
        number += 1
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
