"""Aligned passages are those of the textbook, whatever the words, their places and the settings."""

from itertools import accumulate
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nearly import _kernels
from nearly.passage import edited
from nearly.textbook import alignment
from nearly.textbook.alignment import AlignedWords, Span, aligned_passages, ends_of_runs
from nearly.textbook.passage import shared_part

#: Sums of rarities are exact: in eighths.
RARITIES = [0.0, 0.0, 0.5, 1.25, 3.0, 6.0]
NEVER = 2.0  # so much of a passage is never verbatim


@st.composite
def documents(draw: st.DrawFn) -> AlignedWords:
    """Pieces of one sequence of stems, and words of its own between them."""
    pieces = draw(
        st.lists(
            st.one_of(
                st.tuples(st.integers(0, 39), st.integers(1, 20)).map(
                    lambda x: list(range(x[0], x[0] + x[1]))
                ),
                st.lists(st.integers(0, 300), max_size=6),
            ),
            min_size=1,
            max_size=6,
        )
    )
    stems = [stem for piece in pieces for stem in piece]
    return placed(draw, stems)


def placed(draw: st.DrawFn, stems: list[int]) -> AlignedWords:
    gaps, lengths = (
        draw(st.lists(st.sampled_from(each), min_size=len(stems), max_size=len(stems)))
        for each in ([1, 1, 2, 9], [1, 3, 7])
    )
    starts = list(
        accumulate((g + n for g, n in zip(gaps[1:], lengths, strict=False)), initial=gaps[0])
        if stems
        else ()
    )
    return AlignedWords(
        stems=stems,
        rarities=[RARITIES[stem % len(RARITIES)] for stem in stems],
        starts=starts,
        ends=[start + length for start, length in zip(starts, lengths, strict=True)],
        begins=[draw(st.booleans()) for _ in stems],
    )


NUMBERS: dict[str, st.SearchStrategy[Any]] = {
    "most_meetings": st.sampled_from([1, 2, 6, 1_000]),
    "gap": st.sampled_from([0, 4, 20, 160]),
    "least_density": st.sampled_from([0.0, 0.125, 0.16, 0.5]),
    "steadiness": st.sampled_from([0.0, 0.35, 0.9]),
    "least_evidence": st.sampled_from([0.0, 1.0, 6.0, 40.0]),
    "least_length": st.sampled_from([0, 9, 25, 180]),
    "snap": st.sampled_from([0, 5, 40]),
}
CONDENSING: dict[str, st.SearchStrategy[Any]] = {
    "gap": st.sampled_from([0, 4, 20, 160]),
    "least_density": st.sampled_from([0.0, 0.125, 0.4]),
    "least_scattered": st.sampled_from([0.0, 1.0, 8.0, 60.0]),
    "least_outside": st.sampled_from([0.0, 0.3, 0.5]),
    "rise": st.sampled_from([0.0, 0.5, 3.0]),
    "widest": st.sampled_from([0.5, 2.0, 15.0]),
}
SETTINGS = st.fixed_dictionaries({**NUMBERS, "condensing": st.fixed_dictionaries(CONDENSING)})


def kernel(
    a: AlignedWords, b: AlignedWords, numbers: dict[str, Any], least_verbatim: float
) -> tuple[list[tuple[Span, Span]], list[float], list[bool]]:
    condensing = _kernels.Condensing(**numbers["condensing"])
    chosen = _kernels.Alignment(**{**numbers, "condensing": condensing})
    kinds = (np.uint32, np.float32, np.uint32, np.uint32, np.uint8)
    stems, rarities, *places = (
        np.array([*one, *other], kind) for one, other, kind in zip(a, b, kinds, strict=True)
    )
    numbers = np.arange(len(stems), dtype=np.uint32)[::-1].copy()  # each word has one of its own
    words = (stems.astype(np.uint64) + 1, numbers, *places, stems[numbers], rarities[numbers])
    offsets = np.cumsum([0, len(a.stems), len(b.stems)])
    who = np.zeros(1, np.uint32), np.ones(1, np.uint32)
    found, likeness, verbatim = _kernels.align(offsets, *words, *who, chosen, least_verbatim)
    spans = [((i, i_end), (j, j_end)) for _, i, i_end, j, j_end in found.tolist()]
    return spans, likeness.tolist(), verbatim.astype(bool).tolist()


@settings(max_examples=300)
@given(documents(), documents(), SETTINGS)
def test_passages_are_those_of_the_textbook(
    a: AlignedWords, b: AlignedWords, numbers: dict[str, Any]
) -> None:
    wanted = [(each.a, each.b) for each in aligned_passages(a, b, numbers)]
    assert kernel(a, b, numbers, NEVER)[0] == wanted


@given(documents(), documents(), SETTINGS, st.sampled_from([0.0, 0.3, 0.7]))
def test_their_ends_are_those_of_verbatim_runs(
    a: AlignedWords, b: AlignedWords, numbers: dict[str, Any], least: float
) -> None:
    spans, likeness, verbatim = kernel(a, b, numbers, least)
    wanted = []
    for each in aligned_passages(a, b, numbers):
        ends = ends_of_runs(a.stems[slice(*each.a)], b.stems[slice(*each.b)], least)
        moved = zip((each.a[0], each.b[0]), ends, strict=True)
        wanted.append(tuple((first + start, first + end) for first, (start, end) in moved))
    assert spans == wanted
    for (of_a, of_b), alike, is_verbatim in zip(spans, likeness, verbatim, strict=True):
        one, other = a.stems[slice(*of_a)], b.stems[slice(*of_b)]
        assert alike == shared_part(one, other)
        assert is_verbatim == (one == other)


def evenly(stems: list[int], rarity: float = 3.0) -> AlignedWords:
    """Words of five characters, one sentence."""
    places = range(0, 6 * len(stems), 6)
    begins = [place == 0 for place in places]
    ends = [place + 5 for place in places]
    return AlignedWords(stems, [rarity] * len(stems), list(places), ends, begins)


def test_the_textbook_finds_a_passage_and_where_it_ends() -> None:
    """The oracle has something to find, with the numbers of the package."""
    numbers = {**edited.ALIGNMENT, "condensing": edited.CONDENSING}
    shared = list(range(1_000, 1_060))
    a = evenly([*range(100), *shared, *range(200, 300)])
    b = evenly([*range(400, 430), *shared[:30], 5_000, *shared[31:], *range(500, 600)])
    (passage,) = aligned_passages(a, b, numbers)
    assert (passage.a, passage.b) == ((100, 160), (30, 90))
    assert kernel(a, b, numbers, NEVER)[0] == [((100, 160), (30, 90))]


def test_the_textbook_finds_what_sums_up_a_text() -> None:
    condensing = {**edited.CONDENSING, "widest": 50}
    numbers = {**edited.ALIGNMENT, "condensing": condensing}
    long = evenly(list(range(1_000, 2_000)))
    sums_up = list(range(1_000, 2_000, 40))  # too far apart there to be a passage
    short = evenly([*range(5_000, 5_200), *sums_up, *range(6_000, 6_200)])
    (passage,) = aligned_passages(short, long, numbers)
    assert (passage.a, passage.b) == ((200, 225), (0, 1_000))
    assert kernel(short, long, numbers, NEVER)[0] == [((200, 225), (0, 1_000))]
    met = alignment.meetings(short, long, numbers["most_meetings"])
    heaps = alignment.heaps(met, short, long, numbers["gap"])
    assert not any(alignment.settled(heap, short, long, numbers) for heap in heaps)
