"""What people see: harmless, one line each, and as wide as the terminal."""

import io
import re
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
import rich.progress
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

import nearly
from nearly.cli.beside import print_beside
from nearly.cli.line import Line, Style, has_colour
from nearly.cli.pair import print_pairs
from nearly.cli.terminal import _progress, harmless, numbers, short
from nearly.text.table import Glimpse, excerpt_columns

#: Texts as Arrow holds them: no lone surrogates.
SHOWN = st.text(st.characters(codec="utf-8"))


def shown(
    monkeypatch: pytest.MonkeyPatch, *pairs: tuple[str, str, str, str], width: int = 60
) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    out = io.StringIO()
    excerpts = excerpt_columns([Glimpse(pair[2], pair[3]) for pair in pairs], "word")
    rows = pa.table(excerpts).to_pylist()
    for row, (id_a, id_b, _, _) in zip(rows, pairs, strict=True):
        row |= {"id_a": id_a, "id_b": id_b, "similarity": 0.9}
    print_pairs(rows, out)
    return out.getvalue().splitlines()


@given(st.text(st.characters(categories=["Cc", "Cs", "Zl", "Zp"])))
def test_controls_are_spelled_out(text: str) -> None:
    assert harmless(text).isprintable()


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("a\u202egpj", r"a\u202egpj"),
        ("\udcff", r"\udcff"),
        ("naïve 文字 👩‍👩‍👧", "naïve 文字 👩‍👩‍👧"),
    ],
)
def test_only_what_is_harmful_is_spelled_out(given: str, safe: str) -> None:
    assert harmless(given) == safe


@pytest.mark.parametrize(
    ("similarity", "text"),
    [(1.0, "1.0000"), (0.99999, "0.9999"), (0.57, "0.5700"), (1 / 3, "0.3333"), (1e-7, "0.0000")],
)
def test_only_what_is_the_same_is_shown_as_one(similarity: float, text: str) -> None:
    assert short(similarity) == text


def test_a_pair_is_two_lines_under_each_other_and_says_what_differs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = shown(monkeypatch, ("a", "bb", "one\ntwo", "one\ttwo three"))
    assert lines == [
        "0.9000  a   one two",
        "        bb  one two [three]",
        "        equal but for 1 of 3 words",
    ]


@given(st.lists(st.tuples(*[SHOWN] * 4), max_size=4), st.sampled_from([45, 60]))
def test_no_document_breaks_a_line_or_leaves_it(
    pairs: list[tuple[str, str, str, str]], width: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        lines = shown(patch, *pairs, width=width)
    assert len(lines) == 3 * len(pairs)
    assert all(harmless(line) == line for line in lines)
    assert all(cell_len(line) <= width for line in lines)


def test_wide_characters_count_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(monkeypatch, ("甲" * 40, "b", "文" * 90, "文" * 91))
    assert all(cell_len(line) <= 60 for line in lines)
    assert lines[0].endswith("…")


def test_of_a_long_path_the_end_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(monkeypatch, ("folder/" * 9 + "name.txt", "b", "x", "y"))
    assert re.fullmatch(r"0\.9000  …[a-z/]+/name\.txt  \[x\]", lines[0])


def test_a_late_difference_is_brought_into_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    start = "the same words again and again, " * 5
    lines = shown(monkeypatch, ("a", "b", start + "left", start + "right"))
    assert lines[0].endswith("[left]")
    assert lines[1].endswith("[right]")


def test_equal_beginnings_are_shown_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(monkeypatch, ("a", "b", "word " * 40, "word " * 40))
    assert lines[0].split("  ")[2].startswith("word word")


def beside(monkeypatch: pytest.MonkeyPatch, a: str, b: str, width: int) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    out = io.StringIO()
    print_beside(nearly.compare(a, b), out)
    return out.getvalue().splitlines()


def test_two_texts_stand_beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    same = "These words are the same in both texts, and there are many of them, so that. " * 4
    moved = "This sentence was moved. "
    lines = beside(monkeypatch, moved + same + "It was March.", same + moved + "It was April.", 80)
    assert all(cell_len(line) <= 80 for line in lines)
    columns = [line.split(" │ ") for line in lines[:-1]]
    left, right = (" ".join(row[i].strip() for row in columns if len(row) > i) for i in (0, 1))
    for text, month in ((left, "March"), (right, "April")):
        assert "{This sentence was moved.}" in text
        assert f"It was [{month}]." in text
        assert "…" in text
    assert lines[-1].endswith("[ ] differs; { } was moved")


def test_narrow_terminals_show_one_text_under_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = beside(monkeypatch, "one two three " * 9, "one two four " * 9, 45)
    assert all(cell_len(line) <= 45 for line in lines)
    assert {line[0] for line in lines[:-1] if line} == {"A", "B"}


#: Pieces of a line: of one cell, of two, of none, and white space. No joiners: rich loses what
#: stands behind one that joins nothing.
PIECES = st.lists(
    st.tuples(
        st.text(st.sampled_from("ab ,文字e\u0301👩"), max_size=9),
        st.sampled_from([None, Style(bold=True), Style("cyan")]),
    )
)


@given(PIECES, st.integers(2, 12))
def test_lines_break_and_end_where_those_of_rich_do(
    pieces: list[tuple[str, Style | None]], width: int
) -> None:
    line = Line(*pieces)
    wrapped = Text(line.plain).wrap(Console(width=width), width)
    assert [part.plain for part in line.wrapped(width)] == [part.plain.rstrip() for part in wrapped]
    cut = Text(line.plain)
    cut.truncate(width, overflow="ellipsis")
    assert line.cut(width).plain == cut.plain


@given(PIECES, st.integers(0, 30), st.integers(0, 30))
def test_a_part_keeps_the_style_of_each_character(
    pieces: list[tuple[str, Style | None]], start: int, stop: int
) -> None:
    def each(line: Line) -> list[tuple[str, Style | None]]:
        return [(character, style) for text, style in line.pieces for character in text]

    line = Line(*pieces)
    assert each(line.part(start, stop)) == each(line)[start:stop]
    assert each(line.part(start)) == each(line)[start:]


@pytest.mark.parametrize(
    ("environment", "colour"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_colour_is_for_terminals_or_asked_for(
    environment: dict[str, str], colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert has_colour(io.StringIO()) is colour
    written = Line(("a", Style("cyan")), (" b", None)).shown(colour=colour)
    assert written == ("\x1b[36ma\x1b[0m b" if colour else "a b")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ((12_345, 50_000, 12.0, 4.0), "12.3k of 50.0k  24%  0:12 left"),
        ((3, 26, None, 4.0), "3 of 26  11%"),
        ((0, 0, None, 4.0), "100%"),
        ((7, None, None, 3_725.0), "7 done  1:02:05"),
        ((0, None, None, 4.0), "0:04"),
    ],
)
def test_progress_says_count_share_and_time_left(given: tuple[float, ...], text: str) -> None:
    assert numbers(*given) == text  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [20, 30, 45, 60, 80, 120])
def test_progress_does_not_wrap(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    progress = _progress()
    task = progress.add_task("read and sign", total=999_900)
    progress.advance(task, 142_857)
    console = Console(width=width, file=io.StringIO(), force_terminal=True)
    for left in (None, 7, 359_999):
        with patch.object(rich.progress.Task, "time_remaining", left):
            lines = console.render_lines(progress.get_renderable())
        assert len(lines) == 1
        line = "".join(segment.text for segment in lines[0])
        assert "14%" in line
        if width >= 45:
            assert re.search("142.9k( of |/)999.9k", line)
            assert (left is None) or ("0:07" if left == 7 else "99:59:59") in line


@given(st.floats(0, 1e300))
@example(3.7252e-08)
@example(123_456_789.0)
def test_a_distance_is_shown_as_what_it_is_about(distance: float) -> None:
    out = io.StringIO()
    row = excerpt_columns([Glimpse("1 2", "1 2")], None)
    rows = [pa.table(row).to_pylist()[0] | {"id_a": "a", "id_b": "b", "distance": distance}]
    print_pairs(rows, out)
    first, *others = out.getvalue().splitlines()
    written = first[:6].strip()
    assert len(others) == 1, "vectors have no words to differ in"
    assert float(written) == pytest.approx(distance, rel=0.5)


@pytest.mark.parametrize(
    ("source", "how", "told"),
    [
        ([{"a b", "c"}, {"a b", "d e"}], {"threshold": 0.3}, "equal but for 1 of 2 items"),
        ([{"a", "b"}, {"a", "b"}], {}, "the same items"),
        (["Maria Schmidt", "Maria Schmitt"], {"measure": "edit"}, "for 1 of 13 characters"),
        (np.array([[1.0, 2.0], [1.0, 2.00001]]), {}, None),
        (np.array([5, 7], np.uint64), {"within": 1}, None),
    ],
)
def test_what_differs_is_told_in_what_documents_are_made_of(
    source: Any, how: dict[str, Any], told: str | None
) -> None:
    out = io.StringIO()
    print_pairs(nearly.find(source, **how).top.to_pylist(), out)
    summary = out.getvalue().splitlines()[2:]
    assert summary == [] if told is None else summary[0].endswith(told)
