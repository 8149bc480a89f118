"""JSON lines that are long: read some at a time, and the same as if they were read together."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nearly.errors import UnreadableError
from nearly.sources import Skipped, open_source
from nearly.sources.formats import abridged, cut_record, duck
from nearly.sources.formats.database import Database

LINES = [
    json.dumps({"id": 1, "text": "one " * 30}),
    "",
    "{broken",
    json.dumps({"id": 2.5, "text": None, "more": {"a": [1, "x"]}}),
    json.dumps({"text": 'with "quotes" and ends\n of lines', "id": 3}),
    "   ",
    json.dumps({"id": 4, "text": "é" * 200}),
]


def rows_of(path: Path, tmp_path: Path) -> tuple[list[dict], list[dict]]:
    skipped = Skipped()
    source = open_source(str(path), temporary=tmp_path)
    rows = [row for batch in source.documents(skipped) for row in batch.to_pylist()]
    return rows, skipped.table().to_pylist()


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("end_of_line", ["\n", "\r\n"])
def test_some_lines_at_a_time(tmp_path, monkeypatch, ending, end_of_line):
    path = tmp_path / f"docs.jsonl{ending}"
    data = end_of_line.join(LINES * 3).encode()
    path.write_bytes(gzip.compress(data) if ending else data)
    together = rows_of(path, tmp_path)
    assert len(together[0]) == 9
    assert len(together[1]) == 6
    monkeypatch.setattr(duck, "LONG_LINE", 10)
    for size in (1, 300):
        monkeypatch.setattr("nearly.sources.part.BATCH_BYTES", size)
        assert rows_of(path, tmp_path) == together
    assert [p.name for p in tmp_path.iterdir() if p.is_dir() and any(p.iterdir())] == []


def test_a_line_longer_than_duckdb_takes_by_itself(tmp_path):
    long = "a long text " * (duck.LARGEST_OBJECT // 10)
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in ("short", long, "last")))
    rows, skipped = rows_of(path, tmp_path)
    assert [row["text"] for row in rows] == ["short", long, "last"]
    assert skipped == []


LONG = "words that go on and on, " * 4
#: Each is a line with a long string, and the way in which it is special.
SPECIAL = {
    "plain": json.dumps({"id": 1, "text": LONG}),
    "not of ASCII": json.dumps({"id": 1, "text": LONG + "é€😀"}, ensure_ascii=False),
    "escaped": json.dumps({"id": 1, "text": LONG + 'é€😀 "quoted" \\ \n \t /'}),
    "half of a pair": '{"id": 1, "text": "' + LONG + '\\ud800"}',
    "a NUL": '{"id": 1, "text": "' + LONG + '\\u0000"}',
    "a bad escape": '{"id": 1, "text": "' + LONG + '\\x"}',
    "a raw tab": '{"id": 1, "text": "' + LONG + '\t"}',
    "several": json.dumps({"a": LONG + "a", "text": LONG, "b": LONG + "b"}),
    "deeper": json.dumps({"id": 1, "text": LONG, "more": {"a": [LONG, {"b": LONG}]}}),
    "a long name": json.dumps({"id": 1, LONG: LONG, "text": LONG}),
    "a name twice": '{"text": "' + LONG + '", "text": "' + LONG[1:] + '"}',
    "without an end": '{"id": 1, "text": "' + LONG + '\\" ' * 20,
    "more after it": json.dumps({"text": LONG}) + " and more",
    "brackets in strings": json.dumps({"]}": "[{", "text": LONG, "id": 1}),
}


@pytest.mark.parametrize("special", SPECIAL)
@pytest.mark.parametrize("size", [1, 2**22])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_long_strings_are_read_apart_and_are_the_same(tmp_path, monkeypatch, special, size, ending):
    path = tmp_path / f"docs.jsonl{ending}"
    short = json.dumps({"id": 7, "text": "short"})
    data = "\n".join([short, SPECIAL[special], short, SPECIAL["plain"], ""]).encode()
    path.write_bytes(gzip.compress(data) if ending else data)
    whole = rows_of(path, tmp_path)
    marks = []
    monkeypatch.setattr(duck, "ABRIDGED_FROM", 60)
    monkeypatch.setattr(abridged, "LONG", 40)
    monkeypatch.setattr(abridged, "PIECE", 7)
    monkeypatch.setattr("nearly.sources.part.BATCH_BYTES", size)
    restored = abridged.Abridged.restored
    monkeypatch.setattr(
        abridged.Abridged, "restored", lambda *given: marks.append(given) or restored(*given)
    )
    assert rows_of(path, tmp_path) == whole
    assert marks, "they were read apart"


DEEP = LONG + 'é€😀 "quoted" \\ / \n \b \x1f \x7f'
#: Values that are no strings, with long strings in them; the second line says what else there is.
NESTED = {
    "a list": [{"more": ["short", DEEP, None, DEEP]}, {"more": []}],
    "an object": [{"more": {"a": DEEP, "b": 1.5}}, {"more": None}],
    "lists in lists": [{"more": [[DEEP], ["b", DEEP]]}, {"more": [["c"]]}],
    "objects in lists": [{"more": [{"a": DEEP}, {"a": "b", "c": [DEEP]}]}, {}],
    "any kind": [{"more": {"a": DEEP, "b": [DEEP, "short"]}}, {"more": "a string"}],
    "many names": [{"more": {f"name{i}": DEEP for i in range(300)}}, {"more": {"other": "b"}}],
}


@pytest.mark.parametrize("ending", [".jsonl", ".json"])
@pytest.mark.parametrize("nested", NESTED)
def test_long_strings_deeper_in_an_object_are_the_same(tmp_path, monkeypatch, nested, ending):
    path = tmp_path / f"docs{ending}"
    rows = [json.dumps({"text": DEEP[::-1], **row}) for row in (*NESTED[nested], {"text": "last"})]
    path.write_text("\n".join(rows) if ending == ".jsonl" else f"[{','.join(rows)}]")
    whole = columns_of(path, tmp_path)
    monkeypatch.setattr(duck, "ABRIDGED_FROM", 60)
    monkeypatch.setattr(duck.JsonPart, "_has_long_objects", ending == ".json")
    monkeypatch.setattr(abridged, "LONG", 40)
    monkeypatch.setattr(abridged, "PIECE", 7)
    longest = []
    restored = abridged.Abridged.restored

    def watched(self, batch):
        longest.append(max(len(str(row)) for row in batch.to_pylist()))
        return restored(self, batch)

    monkeypatch.setattr(abridged.Abridged, "restored", watched)
    assert columns_of(path, tmp_path) == whole
    if nested != "many names":
        assert max(longest) < 400, "DuckDB saw marks"


def columns_of(path: Path, tmp_path: Path) -> tuple[list[dict], str]:
    """Every column of every row, as for a clean copy in another format; and their types."""
    database = Database(tmp_path, threads=2)
    part = duck.JsonPart(database, str(path), path.name, lines=path.suffix == ".jsonl")
    rows = [row for batch in part.batches(None, pytest.fail) for row in batch.to_pylist()]
    return rows, str(part.schema)


@pytest.mark.parametrize(
    ("shape", "ending"),
    [
        ("[{}]", ""),
        *(
            pytest.param(shape, ending, marks=pytest.mark.slow)
            for shape, ending in [
                (" \n[\n{}\n]", ".gz"),
                ("[{}]", ".gz"),
                ("{}", ""),
                ("{}", ".gz"),
            ]
        ),
    ],
)
def test_an_object_longer_than_duckdb_takes_in_an_array(tmp_path, shape, ending):
    long = 'a "long" text é😀\n' * (duck.LARGEST_OBJECT // 6)
    texts = ("short", long, "last")
    objects = [json.dumps({"id": text[:4], "text": text, "more": {"a": ["x"]}}) for text in texts]
    path = tmp_path / f"docs.json{ending}"
    data = shape.replace("{}", (",\n" if "[" in shape else "\n").join(objects)).encode()
    path.write_bytes(gzip.compress(data, 1) if ending else data)
    rows, skipped = rows_of(path, tmp_path)
    assert [row["text"] for row in rows] == list(texts)
    assert [row["id"] for row in rows] == ["shor", 'a "l', "last"]
    assert skipped == []


def test_a_long_object_that_is_no_json_in_an_array_is_an_error(tmp_path):
    path = tmp_path / "docs.json"
    path.write_text('[{"text": "' + "a" * 3 * duck.LARGEST_OBJECT + '\\x"}]')
    with pytest.raises(UnreadableError, match="Malformed JSON"):
        rows_of(path, tmp_path)


# Values as they are written: in odd ways, too large, half of a pair, none at all.
SCALARS = st.sampled_from(
    [
        "1",
        "-2.5e3",
        "99999999999999999999",
        "true",
        "null",
        "NaN",
        '"a"',
        '"é😀"',
        '"\\u00e9 \\" \\\\"',
        '"]},{["',
        '"\\ud83d\\ude00"',
        '"2020-01-01"',
        '""',
        '"\\ud800"',
        "tru",
        "01",
        '"\t"',
    ]
)
SPACES = st.sampled_from(["", " ", "\t", "  "])


def a_list(elements: st.SearchStrategy[str], most: int = 12) -> st.SearchStrategy[str]:
    """With commas as they should be, mostly."""
    commas = st.sampled_from([","] * 9 + [" , ", ",,", " "])
    pieces = st.lists(st.tuples(elements, commas), max_size=most)
    ends = st.sampled_from(["]"] * 9 + [",]", "", "}"])
    return st.builds(
        lambda pieces, end: "[" + "".join(a + b for a, b in pieces).rstrip(", ") + end, pieces, ends
    )


OBJECTS = st.builds(lambda a, b: f'{{"a":{a}, "b" :{b}}}', SCALARS, SCALARS)
VALUES = st.one_of(
    SCALARS,
    a_list(SCALARS),
    a_list(OBJECTS),
    a_list(st.one_of(SCALARS, OBJECTS, a_list(SCALARS, 3))),
)
# Lists and objects in each other, three deep, with what is wrong only now and then.
DEEPER = st.recursive(
    st.one_of(SCALARS, st.sampled_from(["1", "2", '"a"', "null"])),
    lambda inner: st.one_of(
        a_list(inner, 6),
        st.builds(
            lambda members, end: (
                "{" + ",".join(f'"{name}":{value}' for name, value in members) + end
            ),
            st.lists(st.tuples(st.sampled_from("abcdab"), inner), max_size=6),
            st.sampled_from(["}"] * 9 + [",}"]),
        ),
    ),
    max_leaves=25,
)
VALUES = st.one_of(VALUES, DEEPER)
NAMES = st.sampled_from(['"id"', '"text"', '"items"', '"more"', '"\\u0069tems"'])
RECORDS = st.builds(
    lambda members, space: (
        "{" + space + f",{space}".join(f"{n}{space}:{v}" for n, v in members) + "}"
    ),
    st.lists(st.tuples(NAMES, VALUES), max_size=5),
    SPACES,
)


@settings(max_examples=400, deadline=None)
@given(records=st.lists(RECORDS, min_size=1, max_size=5))
@example(
    records=['{"id": 1, "items": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, "a"]}', '{"items": [[1], 2]}']
)
@example(records=['{"items": [1, 2, 3, 4, 5, 6, 7, 8, 9], "items": [7, 8, 9, 1, 2, 3, 4, 5]}'])
@example(records=['{"items": [1, 2, 3, 4, 5, 6, 7, 8, 9]}', '{"items": "a string"}'])
@example(records=['{"items": [null, 2, null, 4, 5, 6, null, null, 9, 10, 11, 12, null]}'])
def test_pieces_of_long_objects_are_the_same(database, records):
    check_pieces(database, records)


#: More names than DuckDB takes for anything but a map, where their values are alike.
MANY = 230
ALIKE = st.sampled_from(
    [
        ["1", "22"],
        ["1", "-2", "2.5", "null"],
        ['"word"', '"other words"'],
        ['"word"', '"2020-01-01"', "null"],
        ['"2020-01-01"', '"2021-02-03"'],
        ["1", '"word"'],
        ["[1, 2]", "[3]", "null"],
        ["[1]", '["a"]', "[]"],
        ['{"a":1, "b":"x y"}', '{"a":3, "b":"hello"}'],
        ['{"a":1, "b":2, "c":3}', '{"b":3, "a":1}', '{"a":1,"d":1}'],
        ['{"a":1, "b":2, "c":3, "d":4, "e":5}', '{"a":1, "b":2, "c":3, "d":4}'],
        ['{"a":1, "b":2, "c":3, "d":4, "e":5}', '{"a":1, "b":2}', '{"a":1}'],
        ['{"a":[{"b":1}]}', '{"a":[]}'],
        ["{}", "{}"],
        ["1", "tru"],
        ["99999999999999999999", "1", "18446744073709551615"],
    ]
)


def of_many_names(values: list[str], picks: list[int], first: int, twin: int | None) -> str:
    """An object of such values; perhaps one of its names is there already."""
    names = ["n0" if place == twin else f"n{first + place}" for place in range(MANY)]
    picked = [values[picks[place % len(picks)] % len(values)] for place in range(MANY)]
    members = [f'"{name}":{value}' for name, value in zip(names, picked, strict=True)]
    return f"{{{','.join(members)}}}"


OF_MANY_NAMES = st.builds(
    of_many_names,
    ALIKE,
    st.lists(st.integers(0, 5) | st.just(0), min_size=1, max_size=40),
    st.sampled_from([0, 0, 5, 1000]),
    st.sampled_from([None] * 9 + [200, MANY - 1]),
)
ROUND_IT = st.sampled_from(["%s"] * 3 + ["[%s]", '{"a":%s}', "[1,%s]", '{"a":[%s],"b":2}'])


@settings(max_examples=40, deadline=None)
@given(
    values=st.lists(st.tuples(OF_MANY_NAMES, ROUND_IT), min_size=1, max_size=3),
    others=st.lists(RECORDS, max_size=12),
    top=st.booleans(),
)
def test_objects_of_many_names_are_the_same(database, values, others, top):
    records = [f'{{"id":1,"more":{around % value}}}' for value, around in values]
    if top:
        records[0] = values[0][0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cut_record, "MOST_NAMES", 210)
        check_pieces(database, [*others, *records], longest=500, piece=500)


def check_pieces(database, records, longest=30, piece=5):
    text = json.dumps({"id": 7, "text": "short", "items": [], "more": []})
    for ending, data in (
        (".jsonl", "\n".join([text, *records])),
        (".json", f"[{','.join([text, *records])}]"),
    ):
        path = database.folder / f"docs{ending}"
        path.write_text(data)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(duck, "ABRIDGED_FROM", longest)
            patch.setattr(duck.JsonPart, "_has_long_objects", ending == ".json")
            patch.setattr(cut_record, "PIECE", piece)
            patch.setattr(duck, "CUT_BYTES", 8 * piece)
            found, as_json = outcome_of(path, database)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(duck.JsonPart, "_type_of", with_json(as_json))
            whole, _ = outcome_of(path, database)
        # Of a table that is too wide, or where one is refused, nothing is left to compare.
        assert found == whole or "names, and at most" in found


def with_json(columns: set[str]):
    """How columns are read, some of them as the JSON that they are."""
    usual = duck.JsonPart._type_of
    return lambda self, name, kind: "VARCHAR" if name in columns else usual(self, name, kind)


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return Database(tmp_path_factory.mktemp("json"), 1)


def outcome_of(path: Path, database: Database) -> tuple[str, set[str]]:
    """Every row and every type, or that it is refused; and what is given as JSON."""
    try:
        part = duck.JsonPart(database, str(path), path.name, lines=path.suffix == ".jsonl")
        rows = [row for batch in part.batches(None, pytest.fail) for row in batch.to_pylist()]
    except UnreadableError as error:
        return str(error) if "names, and at most" in str(error) else "refused", set()
    as_json = set() if part._cut is None else {json.loads(name) for name in part._cut.as_json}
    return repr((rows, str(part.schema))), as_json


def test_a_long_list_in_an_array_is_read(tmp_path):
    """DuckDB would refuse so long an object, and take 13 times its size in JSON Lines."""
    items = list(range(4_000_000))
    path = tmp_path / "docs.json"
    path.write_text(json.dumps([{"id": 1, "items": [1]}, {"id": 2, "items": items}, {"id": 3}]))
    part = duck.JsonPart(Database(tmp_path, 1), str(path), "docs.json", lines=False)
    rows = [row for batch in part.batches(None, pytest.fail) for row in batch.to_pylist()]
    assert [row["id"] for row in rows] == [1, 2, 3]
    assert [row["items"] for row in rows] == [[1], items, None]


#: Numbers of each width, the narrower ones first; and what makes an end of a run of them.
WIDTHS = [["1", "127"], ["128", "300"], ["70000"], ["3000000000"], ["null"]]
BELOW_ZERO = [["-1", "-128"], ["-129"], ["-70000"], ["-3000000000"], ["null"]]
UNSIGNED = [["1", "255"], ["65535"], ["65536"], ["18446744073709551615"]]
PICKS = st.lists(st.lists(st.integers(0, 4), max_size=20), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(widths=st.sampled_from([WIDTHS, BELOW_ZERO, UNSIGNED]), most=st.integers(1, 5), picks=PICKS)
def test_whole_numbers_are_the_same_items_however_narrow_they_come(database, widths, most, picks):
    chosen = [[widths[place % most % len(widths)] for place in each] for each in [[0], *picks]]
    lists = [", ".join(number for width in each for number in width) for each in chosen]
    path = database.folder / "numbers.jsonl"
    path.write_text("".join(f'{{"items": [{each}]}}\n' for each in lists))

    def contents(*, shown: bool) -> list:
        source = open_source(str(path), items="items", temporary=database.folder)
        read = source.shown(Skipped()) if shown else source.documents(Skipped())
        return [row for batch in read for row in batch.to_pylist()]

    whole = [contents(shown=shown) for shown in (False, True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duck, "ABRIDGED_FROM", 30)
        patch.setattr(cut_record, "PIECE", 5)
        patch.setattr(duck, "CUT_BYTES", 40)
        assert [contents(shown=shown) for shown in (False, True)] == whole


MANY_KINDS = {f"n{place}": [place, "2020-01-02", {"a": [None]}][place % 3] for place in range(30)}


@pytest.fixture
def short_pieces(monkeypatch):
    monkeypatch.setattr(duck, "ABRIDGED_FROM", 100)
    monkeypatch.setattr(cut_record, "PIECE", 20)
    monkeypatch.setattr(cut_record, "MOST_NAMES", 20)


def json_part(tmp_path, *lines: str) -> duck.JsonPart:
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    return duck.JsonPart(Database(tmp_path, 1), str(path), "docs.jsonl", lines=True)


@pytest.mark.usefixtures("short_pieces")
@pytest.mark.parametrize("around", ["%s", "[[%s]]", '{"a":{"b":%s}}'])
def test_an_object_whose_type_pieces_do_not_tell_is_given_as_json(tmp_path, around):
    written = [
        around % json.dumps(MANY_KINDS),
        around % ('{"b":1,"b":2,"c":[' + "1," * 90 + "1]}"),
        around % '{"n0":7}',
    ]
    lines = [f'{{"id":{place},"in":{value}}}' for place, value in enumerate(written)]
    part = json_part(tmp_path, *lines)
    rows = [row for batch in part.batches(None, pytest.fail) for row in batch.to_pylist()]
    assert [row["id"] for row in rows] == [0, 1, 2]
    assert [row["in"] for row in rows] == [value.replace(" ", "") for value in written]


@pytest.mark.usefixtures("short_pieces")
def test_a_long_object_of_too_many_names_is_refused(tmp_path):
    with pytest.raises(UnreadableError, match="an object has 30 names, and at most 20 are read"):
        json_part(tmp_path, json.dumps(MANY_KINDS))


@pytest.mark.usefixtures("short_pieces")
def test_a_long_object_that_is_deeper_than_duckdb_goes_is_no_row(tmp_path):
    def line(depth: int) -> str:
        return f'{{"text":"a","in":{"[" * depth}{"1," * 90}1{"]" * depth}}}'

    part = json_part(tmp_path, '{"text":"first","in":[]}', line(127))
    rows = [row for batch in part.batches(["text"], pytest.fail) for row in batch.to_pylist()]
    assert rows == [{"text": "first"}, {"text": None}]
