"""Streams without their copies: what is kept, what is dropped, and how often that is wrong."""

import io
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import PATIENCE

import nearly
from nearly.cli.program import run
from nearly.errors import MissingError, NearlyError, SettingsError, SourceError
from nearly.settings import TextSettings, UniqueSettings
from nearly.streams.cutter import LineCutter, ParagraphCutter, Piece
from nearly.streams.sieve import Sieve

NEARLY = str(Path(sys.executable).with_name("nearly"))
LINES = st.lists(st.sampled_from([b"a", b"b", b"", b"\xff", b"a\r", b" ", b"{}", b"c" * 9]))
BLOCKS = st.lists(st.integers(1, 7))


def in_blocks(data: bytes, sizes: list[int]) -> list[bytes]:
    blocks, start = [], 0
    for size in sizes:
        blocks.append(data[start : start + size])
        start += size
    return [*blocks, data[start:]]


def first_of_each(lines: list[bytes]) -> list[bytes]:
    """The plain way: a set that grows with the stream."""
    seen: set[bytes] = set()
    kept = []
    for line in lines:
        text = line.rstrip(b"\r\n")
        if not text or text not in seen:
            kept.append(line)
        seen.add(text)
    return kept


# Cutting


@given(LINES, BLOCKS, st.booleans())
def test_lines_are_cut_wherever_blocks_end(
    lines: list[bytes], sizes: list[int], ends: bool
) -> None:
    data = b"\n".join(lines) + b"\n" * ends
    cutter = LineCutter()
    cut = [line for block in in_blocks(data, sizes) for line in cutter.feed(block)]
    cut += cutter.finish()
    assert b"".join(cut) == data
    assert cut == io.BytesIO(data).readlines()


@given(LINES, BLOCKS)
def test_a_paragraph_ends_where_text_follows_blank_lines(
    lines: list[bytes], sizes: list[int]
) -> None:
    data = b"\n".join(lines)
    cutter = ParagraphCutter()
    cut = [part for block in in_blocks(data, sizes) for part in cutter.feed(block)]
    cut += cutter.finish()
    assert b"".join(cut) == data
    for i, part in enumerate(cut):
        blank = [not line.strip() for line in io.BytesIO(part).readlines()]
        assert blank == sorted(blank)
        assert i == 0 or not blank[0]
        assert i == len(cut) - 1 or blank[-1]


@pytest.mark.parametrize("kind", [LineCutter, ParagraphCutter])
@given(LINES, BLOCKS, st.integers(1, 9))
def test_what_is_too_long_passes_in_pieces(
    kind: type[LineCutter] | type[ParagraphCutter], lines: list[bytes], sizes: list[int], most: int
) -> None:
    data = b"\n".join(lines)
    cutter = kind(longest=most)
    cut = [part for block in in_blocks(data, sizes) for part in cutter.feed(block)]
    cut += cutter.finish()
    assert b"".join(cut) == data
    assert all(isinstance(part, Piece) or len(part) <= most + 1 for part in cut)
    if kind is LineCutter:
        long = [line for line in io.BytesIO(data) if len(line.rstrip(b"\n")) > most]
        assert sum(isinstance(part, Piece) and part.is_first for part in cut) == len(long)


# Exact copies


@given(LINES, st.booleans())
def test_exact_copies_are_dropped_and_all_else_is_as_it_was(lines: list[bytes], ends: bool) -> None:
    data = b"\n".join(lines) + b"\n" * ends
    stream = nearly.unique(io.BytesIO(data), expect=1000, error=1e-6)
    kept = first_of_each(io.BytesIO(data).readlines())
    assert list(stream) == kept
    told = stream.statistics
    assert told.seen == len(io.BytesIO(data).readlines())
    assert told.kept == len(kept) == told.seen - told.exact_copies
    assert (told.near_copies, told.unreadable, told.bands) == (0, 0, None)


def test_copies_far_apart_and_across_blocks_are_found(tmp_path: Path) -> None:
    lines = [b"line %d\n" % (i % 40_000) for i in range(100_000)]
    path = tmp_path / "lines.txt"
    path.write_bytes(b"".join(lines))
    stream = nearly.unique(path, error=1e-7)
    assert list(stream) == lines[:40_000]
    assert stream.statistics.exact_copies == 60_000
    assert repr(stream) == "Unique: 40,000 of 100,000 lines kept so far"


@pytest.mark.parametrize("options", [{}, {"text": "t"}, {"each": "paragraph"}])
def test_a_byte_order_mark_is_kept_and_not_compared(options: dict[str, str]) -> None:
    line, end = b'{"t": "a"}\n', b"\n" if "each" in options else b""
    data = b"\xef\xbb\xbf" + line + end + b'{"t": "b"}\n' + end + line
    stream = nearly.unique(io.BytesIO(data), **options)
    assert b"".join(stream) == data[: -len(line)]
    assert stream.statistics.exact_copies == 1
    later = line + b"\xef\xbb\xbf" + line
    assert b"".join(nearly.unique(io.BytesIO(later))) == later, "elsewhere it is text"


def test_texts_come_back_as_they_were_given() -> None:
    assert list(nearly.unique(["a", "b", "a", "", "\ud800", ""], expect=10)) == [
        "a",
        "b",
        "",
        "\ud800",
        "",
    ]
    asked = []

    def endless():
        while True:
            asked.append(len(asked))
            yield f"text {len(asked) // 2}"

    stream = iter(nearly.unique(endless(), expect=10))
    assert [next(stream) for _ in range(3)] == ["text 0", "text 1", "text 2"]
    assert len(asked) == 4  # what is not needed yet was not asked for


def test_a_column_of_json_is_compared_and_what_cannot_be_read_is_kept() -> None:
    rows = [
        b'{"id": 1, "body": "one"}\n',
        b'{"id":2,"body":"one"}\n',
        b"no json\n",
        b'{"id": 3}\n',
        b'{"body": null}\n',
        b"[1]\n",
        b"no json\n",
        b"\n",
        b'{"body": ""}\n',
        b'{"body": "\\u006fne", "id": 4}\r\n',
        b"\xff\n",
        b"[" * 100_000 + b"\n",
        b'{"body": "two"}',
    ]
    stream = nearly.unique(io.BytesIO(b"".join(rows)), text="body")
    kept = [row for i, row in enumerate(rows) if i not in (1, 9)]
    assert list(stream) == kept
    told = stream.statistics
    assert (told.exact_copies, told.empty, told.unreadable) == (2, 2, 7)
    reasons = {(row["record"], row["reason"]) for row in stream.skipped.to_pylist()}
    assert ("line 3", "is not JSON") in reasons
    assert ("line 4", "has no column 'body'") in reasons
    assert ("line 5", "has no text in its column 'body'") in reasons
    assert ("line 6", "is no JSON object") in reasons


def test_paragraphs_are_units_too() -> None:
    text = b"\n\none\ntwo\n\nthree\n\n\none\ntwo\n \nthree"
    stream = nearly.unique(io.BytesIO(text), each="paragraph", expect=10)
    assert list(stream) == [b"\n\n", b"one\ntwo\n\n", b"three\n\n\n", b"one\ntwo\n \n"]
    assert stream.statistics.exact_copies == 1


# Near-copies


def words(random: np.random.Generator, count: int) -> list[str]:
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    return ["".join(random.choice(letters, 7)) for _ in range(count)]


def test_near_copies_are_dropped_and_strangers_stay() -> None:
    random = np.random.default_rng(1)
    texts = [" ".join(words(random, 30)) for _ in range(200)]
    near = [text + "." for text in texts]  # similarity 0.99
    stream = nearly.unique([*texts, *near, *texts], near=True, expect=1000, error=1e-6)
    assert list(stream) == texts
    told = stream.statistics
    assert (told.near_copies, told.exact_copies, told.bands, told.rows) == (200, 200, 9, 13)


def test_whatever_is_dropped_is_near_to_what_was_kept() -> None:
    """A chain: each is like the one before, and less and less like the first."""
    random = np.random.default_rng(2)
    chain = words(random, 40)
    texts = [" ".join(chain[i:] + chain[:i][::-1]) for i in range(0, 40, 2)]
    kept = list(nearly.unique(texts, near=True, expect=1000, error=1e-6))
    assert 1 < len(kept) < len(texts)
    assert kept[0] == texts[0]


@pytest.mark.parametrize("similarity", [0.6, 0.8, 0.9])
def test_near_copies_are_dropped_as_the_curve_says(similarity: float) -> None:
    random = np.random.default_rng(3)
    pairs, size = 400, 90
    same = round(2 * size * similarity / (1 + similarity))
    dropped = 0
    first, second = [], []
    for _ in range(pairs):
        shared, a, b = words(random, same), words(random, size - same), words(random, size - same)
        first.append(" ".join(shared + a))
        second.append(" ".join(shared + b))
    options = {"near": True, "unit": "word", "k": 1, "expect": 2000, "error": 1e-6}
    stream = nearly.unique([*first, *second], **options)
    dropped = 2 * pairs - len(list(stream))
    true = same / (2 * size - same)
    chance = 1 - (1 - true**13) ** 9
    assert dropped / pairs == pytest.approx(chance, abs=4 * math.sqrt(0.25 / pairs))
    assert 0 < dropped < pairs


def test_settings_of_the_text_are_for_near_copies() -> None:
    texts = ["A text about this and that", "a TEXT about this and that"]
    assert len(list(nearly.unique(texts, near=True, expect=10))) == 1
    assert len(list(nearly.unique(texts, near=True, case="keep", expect=10))) == 2
    assert len(list(nearly.unique(texts, expect=10))) == 2
    with pytest.raises(SettingsError, match="add near"):
        nearly.unique(texts, case="keep")


def test_texts_without_a_shingle_are_like_nothing() -> None:
    texts = ["!", "?", "!!", "!"]
    stream = nearly.unique(texts, near=True, punctuation="drop", expect=10)
    assert list(stream) == ["!", "?", "!!"]
    blank = nearly.unique([" \t", "\t ", "x"], near=True, raw=True, unit="word", expect=10)
    assert list(blank) == [" \t", "\t ", "x"]


@settings(max_examples=20)
@given(st.lists(st.binary(max_size=30), max_size=20))
def test_any_bytes_go_through(texts: list[bytes]) -> None:
    kept = list(nearly.unique(texts, near=True, expect=100, error=1e-6))
    assert set(kept) <= set(texts)
    assert len(kept) >= min(1, len(texts))


# The stated chance


@pytest.mark.parametrize(("near", "expect", "error"), [(False, 200_000, 0.02), (True, 8000, 0.1)])
def test_a_good_line_is_dropped_with_the_stated_chance(
    near: bool, expect: int, error: float
) -> None:
    """Lines that have nothing in common; all that is dropped is dropped by mistake."""
    random = np.random.default_rng(4)
    numbers = random.integers(0, 2**62, expect)
    lines = [f"{number:016x}" for number in numbers]
    assert len(set(lines)) == expect
    stream = nearly.unique(lines, near=near, expect=expect, error=error)
    kept = set(stream)
    last = lines[-expect // 10 :]
    share = sum(line not in kept for line in last) / len(last)
    spread = 4 * math.sqrt(error / len(last))
    # A tenth before the end, the filters are a little emptier than at the end.
    assert share <= error + spread
    assert share >= 0.4 * error - spread
    told = stream.statistics
    assert told.error == pytest.approx(error)
    assert told.error_now <= error
    assert 0 < told.kept < expect


def test_the_chance_beyond_what_was_expected_is_told() -> None:
    lines = [str(i) for i in range(20_000)]
    stream = nearly.unique(lines, expect=5000, error=0.001)
    kept = set(stream)
    share = sum(line not in kept for line in lines[-2000:]) / 2000
    assert stream.statistics.error_now == pytest.approx(share, abs=4 * math.sqrt(share / 2000))
    assert share > 0.1


# Memory


def sieve(**given: object) -> Sieve:
    return Sieve(UniqueSettings(**given), TextSettings())  # type: ignore[arg-type]


def test_two_of_memory_error_and_expected_lines_say_the_third() -> None:
    a = sieve(expect=1_000_000, error=0.001)
    assert a.memory == pytest.approx(1_000_000 * 14.4 / 8 * 1.083, rel=0.01)
    b = sieve(memory=a.memory, error=0.001)
    assert b.size.items == pytest.approx(1_000_000, rel=0.001)
    c = sieve(memory=a.memory, expect=1_000_000)
    assert c.error == pytest.approx(0.001, rel=0.02)
    near = sieve(memory=50_000_000, near=True)
    assert 0.999 * 50_000_000 < near.memory <= 50_000_000
    assert near.error == pytest.approx(0.0001)
    with pytest.raises(SettingsError, match="leave one of the three out"):
        sieve(memory=1_000_000, expect=1_000_000, error=0.001)
    assert sieve(memory=2_000_000, expect=1_000_000, error=0.001).memory == a.memory


def test_more_memory_than_there_is_is_refused_at_once() -> None:
    with pytest.raises(SettingsError, match="this process may use"):
        sieve(expect=10**13)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"expect": 0}, "expect is 0"),
        ({"error": 0}, "error is 0"),
        ({"error": 1e-30}, "error is 1e-30"),
        ({"memory": 10}, "hold not one"),
        ({"each": "word"}, "each is 'word'; choose one of line, paragraph"),
        ({"text": "a", "each": "paragraph"}, "leave one of them out"),
        ({"bands": 3, "rows": 2}, "add near"),
        ({"bands": 3, "near": True}, "give both"),
        ({"threshold": 2}, "threshold is 2"),
        ({"nearr": True}, "did you mean 'near'"),
    ],
)
def test_impossible_settings_are_refused(given: dict[str, object], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        nearly.unique(["a"], **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("nowhere.txt", MissingError),
        ("a.jsonl.gz", SourceError),
        (".", SourceError),
        (b"bytes", SettingsError),
        (7, SettingsError),
        ([7], SettingsError),
        (io.StringIO("text"), SettingsError),
    ],
)
def test_impossible_sources_are_refused(source: object, error: type[NearlyError]) -> None:
    with pytest.raises(error):
        list(nearly.unique(source))


# The command


def piped(*arguments: str, data: bytes) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [NEARLY, "unique", *arguments],
        input=data,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_command_is_a_filter_in_a_pipe() -> None:
    done = piped("-", "--text", "t", data=b'{"t":"a"}\nbad\n{"t":"a","n":2}\n{"t":"b"}')
    assert done.stdout == b'{"t":"a"}\nbad\n{"t":"b"}'
    assert done.returncode == 3
    told = done.stderr.decode().splitlines()
    assert told[0] == "4 lines; 1 exact copy dropped; 3 kept, 1 of them unreadable"
    assert told[1].startswith("27.6 MB for 10,000,000 different lines; ")
    assert told[2] == "kept line 2, which is not JSON"


def test_the_command_is_quiet_and_clean_where_all_is_well(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\nb\na\n")
    with open(tmp_path / "out.txt", "wb") as out:
        done = subprocess.run(
            [NEARLY, "unique", tmp_path / "a.txt", "--quiet", "--expect", "5"],
            stdout=out,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "out.txt").read_text() == "a\nb\n"


def test_a_line_comes_out_before_the_next_one_comes_in() -> None:
    process = subprocess.Popen(
        [NEARLY, "unique", "-", "--quiet"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for line in (b"one\n", b"two\n"):
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline() == line
    process.stdin.close()
    assert process.stdout.read() == b""
    process.stdout.close()
    assert process.wait() == 0


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    (tmp_path / "a.txt").write_text("a\n")
    done = subprocess.run(
        [NEARLY, "unique", tmp_path / "a.txt"],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_closed_stdout_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    command = ["sh", "-c", '"$0" unique "$1" >&-', NEARLY, str(tmp_path / "a.txt")]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1


def test_more_lines_than_expected_are_said(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{i}\n" for i in range(100)))
    assert run(["unique", str(path), "--expect", "10", "--near", "--unit", "word"]) == 0
    told = capfdbinary.readouterr().err.decode()
    assert "more came than the 10 that were expected; give a higher --expect" in told
    assert "near-copies by 9 bands of 13 rows; they are not verified" in told


def test_statistics_are_plain_values() -> None:
    stream = nearly.unique(["a", "a"], expect=10)
    list(stream)
    assert json.loads(json.dumps(stream.statistics.to_dict()))["exact_copies"] == 1


def test_near_copies_are_told_without_what_is_ignored() -> None:
    footer = " sent from my telephone on the road, please excuse the many mistakes in this mail"
    lines = ["the cat sat there" + footer, "rain comes tomorrow" + footer]
    assert len(list(nearly.unique(lines, near=True, threshold=0.5))) == 1
    assert len(list(nearly.unique(lines, near=True, threshold=0.5, ignore=[footer]))) == 2
