"""Differences as data: spans that cover both texts, and the kind of what differs."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearly import textbook
from nearly.text import difference as differing
from nearly.text.difference import Difference, difference, tokens_of
from nearly.text.kind import KINDS, fingerprint, kind_of, kind_of_fingerprints
from nearly.text.unit import Unit

WORDS = st.lists(
    st.sampled_from(["a", "b", "cat", "Cat", "1.5", "15", "x,", "文", "字", "\n"]), max_size=30
)
TEXTS = WORDS.map(" ".join) | st.text(max_size=40)


def pieces(a: str, b: str, found: Difference) -> list[tuple[str, str, str]]:
    return [(s.kind, a[s.start_a : s.stop_a], b[s.start_b : s.stop_b]) for s in found.spans]


@given(st.text(st.characters(codec="ascii")))
def test_words_of_ascii_are_those_of_any_text(text: str) -> None:
    assert tokens_of(text) == re.findall(differing._TOKEN, text)
    assert "".join(tokens_of(text)) == text


@given(TEXTS, TEXTS)
@example("one two three. four five", "four five one two three.")
def test_spans_cover_both_texts_and_equal_ones_are_equal(a: str, b: str) -> None:
    found = difference(a, b)
    parts = pieces(a, b, found)
    assert "".join(part[1] for part in parts) == a
    assert "".join(part[2] for part in parts) == b
    for kind, left, right in parts:
        assert left or right
        if kind == "equal":
            assert left.split() == right.split()
        assert kind != "insert" or not left
        assert kind != "delete" or not right
    assert 0 <= found.differing <= found.words
    assert a != b or found.differing == 0


@given(TEXTS, TEXTS)
def test_kinds_are_symmetric_and_told_by_fingerprints(a: str, b: str) -> None:
    assert kind_of(a, a) == "same text"
    assert kind_of(a, b) == kind_of(b, a) == kind_of_fingerprints(fingerprint(a), fingerprint(b))


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ("the same", "the same", "same text"),
        ("e\u0301t\u00e9", "\u00e9t\u00e9", "same text"),
        ("The Same", "the same", "case"),
        ("the  same\n", "The same", "space"),
        ("then ight", "thenight", "space"),
        ("the same.", "The (same)", "punctuation"),
        ("well-known", "well known", "punctuation"),
        ("invoice 123 is due", "Invoice 9124 is due.", "digits"),
        ("it costs 1.5 euros", "it costs 15 euros", "digits"),
        ("it costs -5", "it costs 5", "digits"),
        ("1 000 men", "1000 men", "digits"),
        ("chapter 5.", "chapter 5", "punctuation"),
        ("red and green", "Green, and red", "order"),
        ("5 red and 6 green", "6 green and 5 red", "order"),
        ("5 red and 6 green", "7 green and 5 red", "words"),
        ("1.5 men", "5.1 men", "digits"),
        ("men 1.5", "5.1 men", "digits"),
        ("a cat", "a dog", "words"),
        ("", "a", "words"),
    ],
)
def test_kinds(a: str, b: str, kind: str) -> None:
    assert kind in KINDS
    assert kind_of(a, b) == difference(a, b).kind == kind


def test_words_are_marked_and_counted() -> None:
    a, b = "the first Monday in March. On", "the first Monday in April. On"
    found = difference(a, b)
    assert [part for part in pieces(a, b, found) if part[0] != "equal"] == [
        ("replace", " March", " April")
    ]
    assert found.summary == "equal but for 1 of 6 words"
    assert difference("Invoice 7", "Invoice 8").summary == "equal but for digits (1 of 2 words)"


def test_what_was_moved_is_told_from_what_was_changed() -> None:
    first, second, third = "One fine day it rained. ", "The cat slept in. ", "Nobody went out."
    a, b = first + second + third, third + " " + first + second
    found = difference(a, b)
    moved = [part for part in pieces(a, b, found) if part[0] == "moved"]
    assert {left.strip() or right.strip() for _, left, right in moved} == {third}
    assert len(moved) == 2


def test_long_texts_take_nearly_linear_time() -> None:
    def seconds(count: int) -> float:
        words = [f"word{i * 7919 % 5003}" for i in range(count)]
        other = [*words[: count // 2], *["new words in between"] * 100, *words[count // 2 :]]
        other[::500] = ["changed"] * len(other[::500])
        start = time.process_time()
        found = difference(" ".join(words), " ".join(other))
        assert 400 < found.differing < 1_000
        return time.process_time() - start

    assert seconds(60_000) < 50 * seconds(6_000)


def test_a_character_is_a_word_where_no_spaces_are_written() -> None:
    found = difference("今日は雨です", "今日は雪です")
    assert (found.differing, found.words) == (1, 6)


@given(TEXTS, TEXTS)
def test_letters_and_items_are_told_apart_too(a: str, b: str) -> None:
    for unit in ("character", "item"):
        found = difference(a, b, unit)
        assert found.unit == unit
        assert "".join(a[s.start_a : s.stop_a] for s in found.spans) == a
        assert "".join(b[s.start_b : s.stop_b] for s in found.spans) == b
        assert {span.kind for span in found.spans} <= {"equal", "insert", "delete", "replace"}
        assert 0 <= found.differing <= found.words


@pytest.mark.parametrize(
    ("a", "b", "unit", "summary", "marked"),
    [
        ("Maria Schmidt", "Maria Schmitt", "character", "1 of 13 characters", ["d", "t"]),
        ("color", "colour", "character", "1 of 6 characters", ["", "u"]),
        ("a\nb\nc d", "a\nb\ne f\ng", "item", "2 of 4 items", ["\nc d", "\ne f\ng"]),
        ("1\n2\n3", "1\n2\n4", "item", "1 of 3 items", ["\n3", "\n4"]),
    ],
)
def test_what_differs_is_marked_by_the_unit(
    a: str, b: str, unit: Unit, summary: str, marked: list[str]
) -> None:
    found = difference(a, b, unit)
    assert found.summary == f"equal but for {summary}"
    (span,) = [span for span in found.spans if span.kind != "equal"]
    assert [a[span.start_a : span.stop_a], b[span.start_b : span.stop_b]] == marked


@given(st.text("ab c\n", max_size=12), st.text("ab c\n", max_size=12))
def test_no_more_characters_are_marked_than_were_edited(a: str, b: str) -> None:
    a, b = (" ".join(each.split()) for each in (a, b))
    spans = [span for span in difference(a, b, "character").spans if span.kind != "equal"]
    marked = sum(s.stop_a - s.start_a + s.stop_b - s.start_b for s in spans)
    assert marked == textbook.edit_distance(a, b)


def test_the_same_items_are_said_to_be_the_same() -> None:
    assert difference("a\nb", "a\nb", "item").summary == "the same items"


def test_very_long_texts_are_compared_by_words_where_characters_were_asked_for() -> None:
    text = "some words of a text " * 20
    assert difference(text, f"{text}more", "character").unit == "word"
