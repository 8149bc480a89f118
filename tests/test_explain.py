"""The lesson: its tables against the textbook, its outputs, and what it refuses."""

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearly
from nearly import textbook
from nearly.cli.program import run
from nearly.errors import SettingsError

TEXTS = st.lists(st.text("abc ", min_size=1, max_size=12), min_size=2, max_size=4)


@settings(max_examples=40)
@given(TEXTS, st.integers(1, 3), st.sampled_from(["functions", "permutations"]))
def test_the_tables_are_the_textbooks(texts: list[str], k: int, by: str) -> None:
    lesson = nearly.explain(texts, k=k, raw=True, by=by, bands=3, rows=2, permutations=6)
    sets = {f"D{i}": textbook.shingles(t, "char", k) for i, t in enumerate(texts, 1)}
    assert lesson.documents == tuple(sets)
    shingles = lesson.matrix["shingle"].to_pylist()
    assert len(shingles) == len(set(shingles)) == len(set.union(*sets.values()))
    for name, own in sets.items():
        ones = zip(shingles, lesson.matrix[name].to_pylist(), strict=True)
        assert {s for s, one in ones if one} == own
        values = {
            function: dict(zip(shingles, lesson.functions[function].to_pylist(), strict=True))
            for function in lesson.functions.column_names[2:]
        }
        least = [min(places[s] for s in own) for places in values.values()]
        assert lesson.signatures[name].to_pylist() == least
        assert lesson.steps[name].to_pylist()[-6:] == least
        assert lesson.steps[name].to_pylist()[:6] == [None] * 6
    signatures = {name: lesson.signatures[name].to_pylist() for name in sets}
    met = textbook.candidates(textbook.buckets(signatures, 3, 2).values())
    assert {(c["a"], c["b"]) for c in lesson.candidates.to_pylist()} == met
    for pair in lesson.similarities.to_pylist():
        a, b = sets[pair["a"]], sets[pair["b"]]
        assert pair["similarity"] == float(textbook.jaccard(a, b))
        assert pair["is_candidate"] == ((pair["a"], pair["b"]) in met)


@pytest.mark.parametrize("by", ["functions", "permutations"])
def test_what_is_drawn_rearranges_all_rows(by: str) -> None:
    lesson = nearly.explain(["some words to compare", "more words to compare"], k=3, by=by)
    assert len(lesson.names) == 12
    for function in lesson.functions.columns[2:]:
        assert len(set(function.to_pylist())) == lesson.matrix.num_rows
    again = nearly.explain(["some words to compare", "more words to compare"], k=3, by=by)
    assert again.tables == lesson.tables
    other = nearly.explain(["some words to compare", "more words to compare"], k=3, by=by, seed=2)
    assert other.names != lesson.names


def test_a_document_without_shingles_stays_infinite() -> None:
    lesson = nearly.explain({"a": "abc", "b": ""}, k=2)
    assert lesson.signatures["b"].to_pylist() == [None] * 12
    assert lesson.candidates.num_rows == 0
    assert repr(lesson) == "Explanation: 2 documents, 2 shingles, 12 functions, 0 candidates"


@pytest.mark.parametrize(
    ("documents", "given", "why"),
    [
        (["a"] * 13, {}, "13 documents were given"),
        ([], {}, "0 documents"),
        ("text", {}, "str was given"),
        (["", ""], {}, "no shingle"),
        (["x" * 3 + str(i) for i in range(2)] + [{"a"}], {}, "one kind"),
        (["ab"], {"function": ["x mod 0"]}, "is no hash function"),
        (["ab"], {"function": ["sin x"]}, "is no hash function; write it like"),
        (["ab"], {"function": "x+1 mod 5"}, "give a list"),
        (["ab"], {"k": 1, "permutation": ["a"]}, "is no permutation of the 2 shingles"),
        (["ab"], {"k": 1, "permutation": ["1 1"]}, "is no permutation"),
        (["ab"], {"function": ["x mod 2"], "permutation": ["a b"]}, "by one of them"),
        (["ab"], {"permutations": 300}, "at most 200"),
        (["ab"], {"bands": 10, "rows": 10}, "10 bands of 10 rows need 100"),
        (["".join(chr(i) for i in range(200, 9000))], {"k": 1, "raw": True}, "at most 2,000"),
    ],
)
def test_what_is_no_lesson_is_refused(
    documents: object, given: dict[str, object], why: str
) -> None:
    with pytest.raises(SettingsError, match=why):
        nearly.explain(documents, **given)  # type: ignore[arg-type]


@pytest.fixture(name="files")
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    for name, text in {"a": "one two <b>", "b": "one two\x1b three"}.items():
        (tmp_path / f"{name}.txt").write_text(text)
    return ["a.txt", "b.txt"]


def test_tables_and_page_are_written(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", *files, "--k", "3", "--csv", "tables", "--html", "page.html"]) == 0
    lesson = nearly.explain({f[0]: Path(f).read_text() for f in files}, k=3)
    assert sorted(p.stem for p in Path("tables").iterdir()) == sorted(lesson.tables)
    with open("tables/matrix.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["row", "shingle", "a", "b"]
    assert len(rows) == lesson.matrix.num_rows + 1
    page = Path("page.html").read_text()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "<script" not in page
    assert "http" not in page
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "one␣" not in out
    assert "ne␣" in out
    assert run(["explain", *files, "--csv", "tables"]) == 2
    assert run(["explain", *files, "--csv", "tables", "--force"]) == 0


def test_long_tables_are_cut(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", *files, "--k", "1", "--show", "3"]) == 0
    assert "more rows; --show, --csv and --html give more" in capsys.readouterr().out
    assert run(["explain", "a.txt", "a.txt"]) == 2
    assert "given twice" in capsys.readouterr().err
    assert run(["explain", "nowhere.txt"]) == 2


def test_shingles_of_a_template_are_left_out() -> None:
    told = nearly.explain(["abcd", "abce"], k=2, ignore=["abc"])
    assert [row["shingle"] for row in told.matrix.to_pylist()] == ["cd", "ce"]
