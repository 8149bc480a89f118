"""What people see: harmless, one line each, and as wide as the terminal."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from nearly.cli.terminal import harmless, print_pairs, short


def shown(
    monkeypatch: pytest.MonkeyPatch, *pairs: tuple[str, str, str, str], width: int = 60
) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    out = io.StringIO()
    names = ("id_a", "id_b", "text_a", "text_b")
    print_pairs([dict(zip(names, pair, strict=True), similarity=0.9) for pair in pairs], out)
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


def test_a_pair_is_two_lines_under_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(monkeypatch, ("a", "bb", "one\ntwo", "one\ttwo three"))
    assert lines == ["0.9000  a   one two", "        bb  one two three"]


@given(st.lists(st.tuples(*[st.text()] * 4), max_size=4))
def test_no_document_breaks_a_line_or_leaves_it(pairs: list[tuple[str, str, str, str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        lines = shown(patch, *pairs)
    assert len(lines) == 2 * len(pairs)
    assert all(harmless(line) == line for line in lines)
    assert all(cell_len(line) <= 60 for line in lines)


def test_wide_characters_count_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(monkeypatch, ("甲" * 40, "b", "文" * 90, "文" * 91))
    assert all(cell_len(line) <= 60 for line in lines)
    assert lines[0].endswith("…")


def test_of_a_long_path_the_end_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(monkeypatch, ("folder/" * 9 + "name.txt", "b", "x", "y"))
    assert re.fullmatch(r"0\.9000  …[a-z/]+/name\.txt  x", lines[0])


def test_a_late_difference_is_brought_into_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    start = "the same words again and again, " * 5
    lines = shown(monkeypatch, ("a", "b", start + "left", start + "right"))
    assert lines[0].endswith("left")
    assert lines[1].endswith("right")


def test_equal_beginnings_are_shown_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(monkeypatch, ("a", "b", "word " * 40, "word " * 40))
    assert lines[0].split("  ")[2].startswith("word word")
