"""`memory` bounds the whole process: its peak lies at most 150 MB above the limit."""

import gzip
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Words = npt.NDArray[np.int64]

LIMIT, ABOVE = 300, 150  # MB
WORDS, LENGTH = 20_000, 15_000  # known words, and words of a text: about 100 KB
#: A corpus that needs far more than the limit without one, its documents, and the command. Words
#: are fewer than characters, so that texts of 450 MB take seconds.
RUNS = {
    "find": ("long", 4_300, ["find", "--unit", "word", "--audit", "5"]),
    "dedup": ("long", 4_300, ["dedup", "--unit", "word"]),
    "exact": ("long", 250, ["find", "--method", "exact"]),
    "leader": ("crowd", 3_600, ["find", "--unit", "word", "--cluster", "leader"]),
}


def long_texts(documents: int, draw: np.random.Generator) -> Iterator[Words]:
    """Every third text is an edited copy of the one before."""
    chosen = draw.integers(0, WORDS, LENGTH)
    for number in range(documents):
        if number % 3:
            chosen = draw.integers(0, WORDS, LENGTH)
        else:
            chosen[draw.integers(0, LENGTH, LENGTH // 100)] = 0
        yield chosen


def crowd(documents: int, draw: np.random.Generator) -> Iterator[Words]:
    """Texts that are all near each other: there are many pairs."""
    common = draw.integers(0, WORDS, 60)
    for _ in range(documents):
        yield np.concatenate([common, draw.integers(0, WORDS, 4)])


TEXTS = {"long": long_texts, "crowd": crowd}


def write(path: Path, texts: Iterator[Words], draw: np.random.Generator) -> None:
    letters = draw.integers(ord("a"), ord("z") + 1, (WORDS, 7), np.uint8)
    letters[:, -1] = ord(" ")
    schema = pa.schema([("text", pa.string())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for chosen in texts:
            writer.write_table(pa.table({"text": [letters[chosen].tobytes().decode()]}))


#: Runs a command and prints its peak. A process starts with the peak of the one that it was forked
#: from, and pytest's may be above the limit: so a small process stands between.
LAUNCHER = """
import os, subprocess, sys
run = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(run.pid, 0)
run.returncode = os.waitstatus_to_exitcode(status)
print(run.returncode, usage.ru_maxrss)
"""


def peak(asked: list[str], path: Path, output: Path) -> int:
    """The megabytes that a command held at the most."""
    command = [sys.executable, "-m", "nearly", *asked, path, "-o", output]
    command += [] if asked[0] == "passages" else ["-t", "0.5"]
    command += ["--force", "--threads", "2"]  # each has buffers of its own
    launched = [sys.executable, "-S", "-c", LAUNCHER, *command]
    said = subprocess.run(launched, stdout=subprocess.PIPE, check=True).stdout
    code, kilobytes = map(int, said.split())
    assert code in (0, 1), "pairs or none"
    return kilobytes * 1024 // 10**6


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Path]:
    """A corpus by its kind and size; made once."""
    folder = tmp_path_factory.mktemp("texts")

    def corpus(kind: str, documents: int) -> Path:
        path = folder / f"{kind}-{documents}.parquet"
        if not path.exists():
            draw = np.random.default_rng(1)
            write(path, TEXTS[kind](documents, draw), draw)
        return path

    return corpus


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_the_peak_stays_near_the_limit(
    tmp_path: Path, made: Callable[[str, int], Path], name: str
) -> None:
    kind, documents, asked = RUNS[name]
    path = made(kind, documents)
    free, limited = tmp_path / "free.parquet", tmp_path / "limited.parquet"
    assert peak(asked, path, free) > LIMIT + ABOVE, "the limit has something to do"
    assert peak([*asked, "--memory", f"{LIMIT}MB"], path, limited) <= LIMIT + ABOVE
    assert limited.read_bytes() == free.read_bytes()
    assert pq.read_metadata(free).num_rows > 0


#: Where a long text stands: the name of its file, what comes before and after it, and the command.
PLACES = {
    "a file": ("long.txt", b"", b"", ["find"]),
    "a line": ("long.txt", b"", b"\n", ["find", "--lines"]),
    "JSONL": ("long.jsonl", b'{"text": "', b'"}\n', ["find"]),
    "compressed JSONL": ("long.jsonl.gz", b'{"text": "', b'"}\n', ["find"]),
    "JSON": ("long.json", b'[{"text": "', b'"}]', ["find"]),
    "deep in JSON": ("deep.json", b'[{"text": "short", "more": ["', b'"]}]', ["find"]),
    "CSV": ("long.csv", b'id,text\n1,"', b'"\n', ["find"]),
    "Parquet": ("long.parquet", b"", b"", ["find"]),
}


def write_long(path: Path, text: bytes) -> None:
    """By the ending; Parquet without a dictionary, which would be held beside its page."""
    if path.suffix == ".parquet":
        table = pa.table({"text": [text.decode()]})
        pq.write_table(table, path, use_dictionary=False)
    else:
        path.write_bytes(gzip.compress(text, 1) if path.suffix == ".gz" else text)


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_a_long_document_costs_at_most_three_times_its_size(tmp_path: Path, place: str) -> None:
    name, before, after, asked = PLACES[place]
    draw = np.random.default_rng(1)
    letters = draw.integers(ord("a"), ord("z") + 1, (WORDS, 7), np.uint8)
    letters[:, -1] = ord(" ")
    megabytes = 60
    text = letters[draw.integers(0, WORDS, megabytes * 10**6 // 7)].tobytes()
    short, long = tmp_path / f"short-{name}", tmp_path / name
    write_long(short, before + text[:70] + after)
    write_long(long, before + text + after)
    usual = peak(asked, short, tmp_path / "pairs.parquet")
    assert peak(asked, long, tmp_path / "pairs.parquet") - usual <= 3 * megabytes


FIND = ["find"]
#: An object that is long by many short values: what surrounds them, one of them, and the command.
SHORT_VALUES = {
    "items": ("long.jsonl", '{"items": [', '"%s"', "]}", ["find", "--items", "items"]),
    "items in an array": ("long.json", '[{"items": [', '"%s"', "]}]", ["find", "--items", "items"]),
    "names": ("names.jsonl", '{"text": "a", "more": {', '"%s": "of"', "}}", FIND),
    "records": ("records.jsonl", '{"text": "a", "more": {', '"%s": {"of": 1}', "}}", FIND),
    "kinds": ("kinds.jsonl", '{"text": "a", "in": {', '"%s": [1, "a", {"b": 2.5}]', "}}", FIND),
    "asked for": (  # as JSON, since it is a string in another line
        "in.jsonl",
        '{"in": "a"}\n{"in": {',
        '"%s": "2020-02-03"',
        "}}",
        ["find", "--text", "in"],
    ),
    "twins": (
        "twins.jsonl",
        '{"text": "a", "in": {"a": 1, "a": 2, "b": [',
        '"%s"',
        "]}}",
        ["find"],
    ),
    "deep": ("d.jsonl", f'{{"text": "a", "in": {"[" * 40}', '"%s"', f"{']' * 40}}}", FIND),
    "an element": ("element.jsonl", '{"text": "a", "more": [1, [', '"%s"', "]]}", FIND),
    "in an object": ("in.jsonl", '{"text": "a", "in": {"a": 1, "b": [', '"%s"', "]}}", FIND),
    "twice": ("twice.jsonl", '{"text": "a", "text": "b", "more": [', '"%s"', "]}", FIND),
    "beside a text": ("beside.jsonl", '{"text": "a", "more": [', '{"a": "%s"}', "]}", FIND),
}


@pytest.mark.slow
@pytest.mark.parametrize("place", SHORT_VALUES)
def test_many_short_values_cost_at_most_three_times_their_size(tmp_path: Path, place: str) -> None:
    name, before, value, after, asked = SHORT_VALUES[place]
    letters = np.random.default_rng(1).integers(ord("a"), ord("z") + 1, (5_000_000, 7), np.uint8)
    different = dict.fromkeys(bytes(word).decode() for word in letters)
    values = [value % word for word in different]
    short, long = tmp_path / f"short-{name}", tmp_path / name
    short.write_text(before + ", ".join(values[:10]) + after)
    long.write_text(before + ", ".join(values) + after)
    usual = peak(asked, short, tmp_path / "pairs.parquet")
    size = long.stat().st_size // 10**6
    assert peak(asked, long, tmp_path / "pairs.parquet") - usual <= 3 * size


@pytest.mark.slow
def test_two_long_documents_that_are_a_pair_cost_at_most_three_times_both(tmp_path: Path) -> None:
    megabytes = 60
    text = np.random.default_rng(1).integers(97, 123, 7_000, np.uint8).tobytes() + b" "
    half = text * (megabytes * 10**6 // len(text) // 2)
    for folder, written in (("short", half[:700]), ("long", half)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_bytes(written)
        (tmp_path / folder / "b.txt").write_bytes(written[:-7])
    usual = peak(["find"], tmp_path / "short", tmp_path / "pairs.parquet")
    assert peak(["find"], tmp_path / "long", tmp_path / "pairs.parquet") - usual <= 3 * megabytes


@pytest.mark.slow
def test_passages_of_a_long_document_take_at_most_six_times_its_size(tmp_path: Path) -> None:
    """Words of five letters, in an order that no other document has but for a short passage."""
    draw = np.random.default_rng(1)
    letters = draw.integers(ord("a"), ord("z") + 1, (WORDS, 6), np.uint8)
    letters[:, -1] = ord(" ")
    megabytes = 60
    text = letters[draw.integers(0, WORDS, megabytes * 10**6 // 6)].tobytes()
    for folder, written in (("short", text[:6_000]), ("long", text)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_bytes(written)
        (tmp_path / folder / "b.txt").write_bytes(text[:3_000] + b"and so on")
    output = tmp_path / "passages.parquet"
    usual = peak(["passages"], tmp_path / "short", output)
    assert peak(["passages"], tmp_path / "long", output) - usual <= 6 * megabytes
    assert pq.read_metadata(output).num_rows > 0
