"""Reads mutated files until the time is over; run as a process, because a crash would end it.

    python fuzz.py FOLDER SEED SECONDS CASES KIND...

Each case is noted in FOLDER/case before it is tried: what is there after a crash did it. One line
of JSON at the end says how many there were of what outcome.
"""

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from ordeal import TEXTS

import nearly
from nearly.plans import check_plan, load_plan
from nearly.sources import read_table

ROWS = [{"id": i, "text": text, "more": [i, None]} for i, text in enumerate(TEXTS * 2)]
TABLE = pa.Table.from_pylist(ROWS)
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


def parquet_file() -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(TABLE, sink)
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


def read(path: Path) -> None:
    read_table(str(path), temporary=path.parent)


def check(path: Path) -> None:
    check_plan(load_plan(path))


def kinds(folder: Path) -> dict[str, tuple[str, bytes, Callable[[Path], None]]]:
    """What is mutated: the name of the file, its bytes, and who reads it."""
    lines = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    pairs = b"id_a,id_b,similarity\n1,2,0.9\n2,3,0.8\n"
    return {
        "CSV": ("f.csv", csv_file(","), find),
        "TSV": ("f.tsv", csv_file("\t"), find),
        "JSON": ("f.json", json.dumps(ROWS).encode(), find),
        "JSONL": ("f.jsonl", lines, find),
        "Parquet": ("f.parquet", parquet_file(), find),
        "Arrow": ("f.arrow", arrow_file(stream=False), find),
        "Arrow stream": ("s.arrow", arrow_file(stream=True), find),
        "text": ("f.txt", TEXTS[0].encode(), find),
        "plan": ("plan.json", plan_file(folder), check),
        "saved pairs": ("pairs.csv", pairs, read),
    }


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


def main() -> None:
    folder, seed = Path(sys.argv[1]), sys.argv[2]
    (folder / "case").write_text("before the first case")
    counts: Counter[str] = Counter()
    given = {kind: made for kind, made in kinds(folder).items() if kind in sys.argv[5:]}
    number, cases, end = 0, int(sys.argv[4]), time.monotonic() + float(sys.argv[3])
    while number < cases and (number < FEWEST or time.monotonic() < end):
        chance = random.Random(f"{seed} {number}")
        kind = chance.choice(list(given))
        name, data, act = given[kind]
        path = folder / name
        path.write_bytes(mutated(data, chance))
        (folder / "case").write_text(f"seed {seed}, case {number}, {kind}")
        try:
            act(path)
            counts[f"{kind} read"] += 1
        except nearly.NearlyError:
            counts[f"{kind} refused"] += 1
        number += 1
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
