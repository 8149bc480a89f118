"""Passages that two texts share: against the textbook's common runs, in any order, any script."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly.text.match import LEAST_MOVED, Matched, Piece, match
from nearly.textbook.passage import maximal_runs

WORDS = st.lists(st.sampled_from(["one", "Two", "three", "four", "x", "ß", "שלום"]), max_size=40)
NASTY = st.text(st.sampled_from("aB \n.\u202e\u0301字かאב<&\x00\ud800é"), max_size=60)


def words_of(text: str, pieces: tuple[Piece, ...], passage: int) -> list[str]:
    """The words of a passage that stand in both texts."""
    same = [p for p in pieces if p.passage == passage and p.is_same]
    return "".join(text[p.start : p.stop] for p in same).casefold().split()


def check_cover(text: str, pieces: tuple[Piece, ...], passages: int) -> None:
    assert "".join(text[p.start : p.stop] for p in pieces) == text
    assert all(p.start < p.stop for p in pieces)
    assert {p.passage for p in pieces if p.is_same} >= set(range(passages))


@given(WORDS, WORDS, st.booleans())
def test_a_passage_is_a_chain_of_runs_that_both_have(
    a: list[str], b: list[str], join: bool
) -> None:
    b = [*b, *a[len(a) // 2 :]] if join else b
    first, second = " ".join(a), " ".join(b)
    found = match(first, second)
    check_cover(first, found.a, found.passages)
    check_cover(second, found.b, found.passages)
    for number in range(found.passages):
        assert words_of(first, found.a, number) == words_of(second, found.b, number)
    lower = ([w.casefold() for w in a], [w.casefold() for w in b])
    if maximal_runs(*lower, LEAST_MOVED):
        assert found.passages


@given(NASTY, NASTY)
def test_any_text_is_covered(a: str, b: str) -> None:
    found = match(a, b)
    check_cover(a, found.a, found.passages)
    check_cover(b, found.b, found.passages)


@pytest.mark.parametrize("seed", range(5))
def test_paragraphs_in_another_order_are_all_found(seed: int) -> None:
    draw = random.Random(seed)
    paragraphs = [" ".join(f"w{p}x{i}" for i in range(9 + p)) for p in range(6)]
    moved = draw.sample(paragraphs, len(paragraphs))
    assert moved != paragraphs
    a, b = "\n".join(paragraphs), "\n".join(moved).upper()
    found = match(a, b)
    assert found.passages > 1
    for text, pieces in ((a, found.a), (b, found.b)):
        assert all(p.passage is not None and p.is_same for p in pieces), text


def test_what_differs_inside_a_passage_is_part_of_it() -> None:
    a = "The bridge will be closed on Monday and the bus goes another way until evening"
    b = a.replace("Monday", "Tuesday") + " Mind the signs at both ends of the town."
    found = match(a, b)
    assert found.passages == 1
    shown = [(b[p.start : p.stop].strip(), p.passage, p.is_same) for p in found.b]
    assert shown == [
        ("The bridge will be closed on", 0, True),
        ("Tuesday", 0, False),
        ("and the bus goes another way until evening", 0, True),
        ("Mind the signs at both ends of the town.", None, False),
    ]


def test_a_few_words_are_no_passage_unless_the_text_has_no_more() -> None:
    assert match("one of the best", "all of the rest").passages == 0
    assert match("two words", "Two words") == Matched(
        1, (Piece(0, 9, 0, True),), (Piece(0, 9, 0, True),)
    )
    assert match("", "") == Matched(0, (), ())
