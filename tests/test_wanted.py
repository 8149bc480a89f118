"""Texts that have some words in them, held to the plain way to look for them."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearly import _kernels
from nearly.arrays import string_array
from nearly.prepared.wanted import strings_having

#: Characters of one to four bytes, with and without cases, one case longer than the other.
LETTERS = "aAbBkßẞéÉпПφΦςΣİǅ語日😀 .\x00"
WORDS = st.text(LETTERS, min_size=1, max_size=5)
TEXTS = st.lists(st.text(LETTERS, max_size=200), max_size=6)


def cases(character: str) -> set[str]:
    """Small and capital, as far as they are characters of the same size, and it is one of them."""
    both = {character.lower(), character.upper()}
    sizes = {(len(each), len(each.encode())) for each in both}
    return both if character in both and len(sizes) == 1 else {character}


def plainly_has(text: str, words: str) -> bool:
    allowed = [cases(character) for character in words]
    starts = range(len(text) - len(words) + 1)
    return any(all(text[start + i] in each for i, each in enumerate(allowed)) for start in starts)


@given(TEXTS, WORDS)
@example(["x" * 63 + "ab", "ab" + "x" * 63, "x" * 62 + "a", "b"], "aB")
@example(["", "a", ""], "a")
@example(["ЯБЛОКО", "яблоко", "\u0400"], "я")
def test_the_words_are_found_where_they_are(texts: list[str], words: str) -> None:
    has = strings_having(string_array(texts), words)
    assert has.tolist() == [plainly_has(text, words) for text in texts]


@given(st.text(LETTERS, min_size=100, max_size=400), st.data())
def test_a_piece_of_a_text_is_found_in_either_case(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    words = text[start : start + data.draw(st.integers(1, 12))]
    changed = "".join(data.draw(st.sampled_from(sorted(cases(each)))) for each in words)
    found = strings_having(string_array(["", changed, text, changed[1:], text]), words)
    assert found[[1, 2, 4]].all()


def test_a_slice_of_texts_is_looked_at_alone() -> None:
    texts = string_array(["needle", "hay", "need", "le", "Needle"])
    assert strings_having(texts.slice(1), "NEEDLE").tolist() == [False, False, False, True]
    assert strings_having(texts.slice(1, 0), "needle").tolist() == []


def test_no_words_are_in_every_text() -> None:
    assert strings_having(string_array(["", "a"]), "").all()


def test_cases_that_differ_in_size_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in size"):
        _kernels.texts_having(np.zeros(1, np.int64), np.zeros(0, np.uint8), b"a", b"AA")
