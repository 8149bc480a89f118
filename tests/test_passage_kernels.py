"""Where sentences begin, and what crowds are: the kernels say what the textbook says."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearly import _kernels
from nearly.arrays import spans, string_array
from nearly.textbook.passage import (
    crowd_places,
    crowded_grams,
    places_of_units,
    sentence_beginnings,
    winnowed,
)

#: What stands between words, and words: marks alone, signs of other scripts, every line end.
PIECES = st.sampled_from(
    [
        *("a", "Dr", "e\u0301", "語", "7", "ß"),
        *(" ", "\n", "\r\n", "\r", "\t", "\u2028", "\u2029", "\u3000", "\xa0", "\x85"),
        *(".", "!", "?", "…", "...", "。", "\uff01", "\uff1f", "\u2019", '"', ")", ",", "-"),
        *("\u0301", "\u200d", "\U0001f600", "\x00"),
    ]
)
SENTENCES = st.lists(PIECES, max_size=25).map("".join)


def beginnings(text: str) -> list[str]:
    """The words that the kernel says begin sentences."""
    _, _, starts, ends, begins, *_ = _kernels.cut_units(
        *spans(string_array([text])), words=True, folds=True
    )
    places = zip(starts.tolist(), ends.tolist(), begins.tolist(), strict=True)
    return [text[start:end] for start, end, is_first in places if is_first]


@given(st.lists(SENTENCES, min_size=1, max_size=4))
def test_sentences_begin_where_the_textbook_says(texts: list[str]) -> None:
    """Several texts: what ended one says nothing of the next."""
    offsets, _, _, _, begins, *_ = _kernels.cut_units(
        *spans(string_array(texts)), words=True, folds=True
    )
    for text, (first, last) in zip(texts, pairwise(offsets.tolist()), strict=True):
        assert begins[first:last].astype(bool).tolist() == list(sentence_beginnings(text))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", []),
        ("word", ["word"]),
        ("one two three", ["one"]),
        ("One. Two.Three! four? \u201cFive.\u201d Six", ["One", "Two", "four", "Five", "Six"]),
        ("Dr. Smith", ["Dr", "Smith"]),
        ("one\r\ntwo\rthree\nfour", ["one", "two", "four"]),
        ("語。句\uff01字", ["語", "句", "字"]),
        ("one … two", ["one", "two"]),
        ("cafe\u0301. E\u0301te\u0301", ["cafe\u0301", "E\u0301te\u0301"]),
    ],
)
def test_a_few_sentences(text: str, wanted: list[str]) -> None:
    assert beginnings(text) == wanted
    words = [text[start:end] for start, end in places_of_units(text, words=True)]
    assert [
        w for w, is_first in zip(words, sentence_beginnings(text), strict=True) if is_first
    ] == (wanted)


UNITS = st.lists(st.integers(1, 5), min_size=3, max_size=30)


@settings(max_examples=300)
@given(st.data(), st.integers(1, 3), st.integers(1, 4), st.integers(1, 6), st.booleans())
def test_crowded_grams_are_those_of_the_textbook(
    data: st.DataObject, k: int, window: int, most: int, one_sided: bool
) -> None:
    corpus = data.draw(st.lists(UNITS, min_size=2, max_size=5))
    numbers = st.lists(st.integers(0, 3), min_size=len(corpus), max_size=len(corpus))
    groups, sides = (np.array(data.draw(numbers), np.uint32) for _ in range(2))
    offsets = np.cumsum([0, *map(len, corpus)])
    units = np.array([unit for some in corpus for unit in some], np.uint64)
    everything, of, _ = _kernels.winnow(offsets, units, k, 1)
    grams = [everything[of == i].tolist() for i in range(len(corpus))]
    chosen = [[(some[place], place) for place in winnowed(some, window)] for some in grams]

    def compares(a: int, b: int) -> bool:
        return bool(groups[a] != groups[b] and (not one_sided or sides[a] != sides[b]))

    _, (hashes, rows) = _kernels.shared_runs(
        offsets, units, groups, sides, one_sided, k, window, most
    )
    found = [
        (h, d, p, bool(f)) for h, (d, p, f) in zip(hashes.tolist(), rows.tolist(), strict=True)
    ]
    assert found == crowded_grams(chosen, most, compares)


@st.composite
def crowds(draw: st.DrawFn) -> tuple[list[int], list[int], list[bool]]:
    """K-grams of a few documents: some follow each other, at small and large distances."""
    hashes = draw(st.lists(st.integers(0, 5).map(lambda n: n * 2**61), max_size=40))
    steps = st.lists(st.integers(1, 9), min_size=len(hashes), max_size=len(hashes))
    flags = st.lists(st.booleans(), min_size=len(hashes), max_size=len(hashes))
    follows = [i > 0 and each for i, each in enumerate(draw(flags))]
    places: list[int] = []
    for step, is_next in zip(draw(steps), follows, strict=True):
        places.append(places[-1] + step if is_next else step)
    return hashes, places, follows


@settings(max_examples=300)
@given(crowds(), st.integers(1, 12))
def test_places_of_crowds_are_those_of_the_textbook(
    given_grams: tuple[list[int], list[int], list[bool]], window: int
) -> None:
    hashes, places, follows = given_grams
    columns = (
        np.array(hashes, np.uint64),
        np.array(places, np.uint32),
        np.array(follows, np.uint8),
    )
    found = [tuple(row) for row in _kernels.crowd_places(*columns, 3, window).tolist()]
    assert found == crowd_places(hashes, places, follows, window)


def test_k_grams_that_come_together_are_one_passage() -> None:
    """Four documents have both k-grams, and one has the second alone, after a rare one."""
    hashes = [7, 3] * 4 + [3]
    places = [0, 20] * 4 + [5]
    follows = [False, True] * 4 + [False]
    wanted = [(0, i, i + 1) for i in range(0, 8, 2)] + [(0, 8, 8)]
    assert crowd_places(hashes, places, follows, 4) == wanted
    apart = crowd_places([7, 3, 7, 9, 7, 1, 3, 9], [0, 20] * 4, [False, True] * 4, 4)
    assert [passage for passage, _, _ in apart] != [apart[0][0]] * len(apart)
    assert all(a[2] < b[1] for a, b in combinations(apart, 2))
