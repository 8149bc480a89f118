"""A clean copy is the input without the removed rows: byte for byte where rows are records."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from nearly.sinks import Outputs
from nearly.sinks.clean_copy import write_copy
from nearly.sources import Skipped, open_source, record
from nearly.sources.formats import careful_csv, json_element

ATOMS = ['"', '""', ",", ";", "\r", "\n", "\r\n", " ", "é", "😀", "a", "NULL", "\\", "\0"]
values = st.lists(st.sampled_from(ATOMS), max_size=5).map("".join)
BAD_RECORDS = ['x,"y"z', "too,many,values,by,far", 'a"b', '"open quote on one line"x', "é,\udcff"]
quickly = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(params=["large stretches", "small stretches"])
def _stretches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "small stretches":
        monkeypatch.setattr(record, "STRETCH", 16)
        monkeypatch.setattr(careful_csv, "STRETCH", 16)
        monkeypatch.setattr(json_element, "STRETCH", 16)


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    return lambda: tmp_path_factory.mktemp("copy")


def written(encoding: str, text: str) -> bytes:
    """Text as a file with a mark, with bytes that are no UTF-8 where it says so."""
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff", "utf-8-sig": b"\xef\xbb\xbf"}
    codec = encoding.removesuffix("-sig")
    return mark.get(encoding, b"") + text.encode(codec, "surrogateescape")


def copy_without(source: Path, removed: list[int], ending: str, **options: object) -> bytes:
    """What a clean copy is where these rows are removed."""
    opened = open_source(source, temporary=source.parent, **options)
    for _ in opened.documents(Skipped()):
        pass
    target = source.parent / f"clean{ending}"
    with Outputs() as outputs:
        write_copy(outputs, opened.kept(np.array(removed, np.int64)), target)
    return target.read_bytes()


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, list[str], list[bool], str]:
    """A CSV file in pieces: what comes first, its records and the blank lines between them."""
    delimiter = draw(st.sampled_from([",", ";", "\t", "|"]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))

    def line(row: list[str]) -> str:
        # Python leaves an end of line without quotes where lines end otherwise.
        rule = csv.QUOTE_ALL if set("\r\n") & set("".join(row)) else quoting
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=rule).writerow(row)
        return text.getvalue()

    head = draw(st.sampled_from(["", end])) + line(["id", "text"])
    pieces, are_records = [], []
    for kind in draw(st.lists(st.sampled_from(["row", "row", "bad", "blank"]), max_size=8)):
        if kind == "row":
            pieces.append(line([str(draw(st.integers(0, 99))), draw(values)]))
        elif kind == "bad":
            bad = draw(st.sampled_from(BAD_RECORDS)).replace(",", delimiter)
            pieces.append(bad + end)
        else:
            pieces.append(end)
        are_records.append(kind != "blank")
    return head, pieces, are_records, end


@pytest.mark.usefixtures("_stretches")
@quickly
@given(
    table=tables(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"]),
    data=st.data(),
)
def test_a_copy_of_csv_is_the_file_without_the_removed_records(folder, table, encoding, data):
    head, pieces, are_records, end = table
    assume(encoding.startswith("utf-8") or not any("\udcff" in piece for piece in pieces))
    if pieces and are_records[-1] and data.draw(st.booleans()):
        pieces[-1] = pieces[-1].removesuffix(end)  # the last line may lack its end
        assume(pieces[-1])
    records = [i for i, is_record in enumerate(are_records) if is_record]
    removed = [n for n in range(len(records)) if data.draw(st.booleans())]
    gone = {records[n] for n in removed}
    path = folder() / "a.csv"
    path.write_bytes(written(encoding, head + "".join(pieces)))
    expected = head + "".join(piece for i, piece in enumerate(pieces) if i not in gone)
    assert copy_without(path, removed, ".csv", text="text") == written(encoding, expected)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
json_records = st.builds(
    lambda text, more, spaced: (
        json.dumps({"text": text, "more": more}, indent=None)
        if spaced
        else json.dumps({"more": more, "text": text}, separators=(",", ":"), ensure_ascii=False)
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    json_values,
    st.booleans(),
)
odd_lines = st.sampled_from(["no JSON", '{"text": "x"', '{"text": "é\udcff"}', '{"text": null}'])


@pytest.mark.usefixtures("_stretches")
@quickly
@given(
    lines=st.lists(json_records | odd_lines | st.sampled_from(["", "  \t"]), max_size=8),
    end=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from(["utf-8", "utf-8-sig"]),
    compressed=st.booleans(),
    data=st.data(),
)
def test_a_copy_of_jsonl_is_the_file_without_the_removed_lines(
    folder, lines, end, mark, compressed, data
):
    lines = ['{"text": "first"}', *lines]
    assume(not any("\u2028" in line or "\x85" in line for line in lines))
    records = [i for i, line in enumerate(lines) if line.strip(" \t")]
    removed = [n for n in range(len(records)) if data.draw(st.booleans())]
    gone = {records[n] for n in removed}
    whole = written(mark, "".join(line + end for line in lines))
    expected = written(mark, "".join(line + end for i, line in enumerate(lines) if i not in gone))
    path = folder() / ("a.jsonl.gz" if compressed else "a.jsonl")
    path.write_bytes(gzip.compress(whole) if compressed else whole)
    assert copy_without(path, removed, ".jsonl", text="text") == expected


#: How a JSON file begins, what stands between elements, how it ends.
FRAMES = (
    ("[", ",", "]"),
    (" [\r\n  ", " ,\r\n  ", "\r\n]\r\n\r\n"),
    ("[\n", "\n, ", "]\n"),
    ("", "\n", "\n"),
    ("\n", "", ""),
)


@pytest.mark.usefixtures("_stretches")
@quickly
@given(
    elements=st.lists(json_records | st.sampled_from(['{"text":"\\\\"}', "{}"]), max_size=6),
    frame=st.sampled_from(FRAMES),
    mark=st.sampled_from(["utf-8", "utf-8-sig"]),
    compressed=st.booleans(),
    data=st.data(),
)
def test_a_copy_of_json_is_the_file_without_the_removed_elements(
    folder, elements, frame, mark, compressed, data
):
    head, between, tail = frame
    nulls = ["null"] if head.strip() else []  # outside of an array, nothing but objects is a row
    elements = ['{"text": "a, \\"}]"}', '{ "n": 12345678901234567890123}', *nulls, *elements]
    removed = [n for n in range(len(elements)) if data.draw(st.booleans())]
    kept = [element for n, element in enumerate(elements) if n not in removed]
    whole = written(mark, head + between.join(elements) + tail)
    path = folder() / ("a.json.gz" if compressed else "a.json")
    path.write_bytes(gzip.compress(whole) if compressed else whole)
    expected = written(mark, head + between.join(kept) + tail)
    assert copy_without(path, removed, ".json", text="text") == expected


@quickly
@given(
    lines=st.lists(st.text("ab \r\0é\udcff", max_size=4), max_size=8),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le"]),
    data=st.data(),
)
def test_a_copy_of_lines_is_the_file_without_the_removed_ones(folder, lines, encoding, data):
    assume(encoding.startswith("utf-8") or not any("\udcff" in line for line in lines))
    lines = ["a", *lines]  # a NUL after a mark would make it another mark
    removed = [n for n in range(len(lines)) if data.draw(st.booleans())]
    path = folder() / "a.log"
    path.write_bytes(written(encoding, "".join(line + "\n" for line in lines)))
    expected = "".join(line + "\n" for i, line in enumerate(lines) if i not in removed)
    copy = copy_without(path, removed, ".txt", lines=True)
    assert copy == written(encoding, expected)
