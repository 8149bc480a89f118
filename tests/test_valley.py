"""Where a histogram of similarities has a valley, against the definition read word by word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly.tuning.valley import BARS, FEWEST, Valley, find_valley

MANY = [100] * BARS


def threshold(pairs: list[float], seen: list[int] = MANY) -> float | None:
    valley = find_valley(pairs, seen)
    return None if valley is None else valley.threshold


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([900, 90, 50, 20, 9, 7, 6, 5, 4, 3, 2, 1, 0.5, 0, 1, 2, 4, 8, 9, 10], 0.675),
        ([900, *[0] * 18, 10], 0.625),  # nothing between, as in most small corpora
        ([900, *[9] * 5, *[3] * 13, 4], None),  # no hill above
        (list(range(40, 20, -1)), None),
        ([0] * BARS, None),
        ([0] * 10 + [5] * 10, None),  # nothing below
    ],
)
def test_examples(pairs: list[float], expected: float | None) -> None:
    assert threshold(pairs) == expected


def test_a_few_pairs_are_no_hill() -> None:
    pairs = [900, *[0] * 18, 10]
    assert threshold(pairs, [*[100] * 19, FEWEST]) == 0.625
    assert threshold(pairs, [*[100] * 19, FEWEST - 1]) is None


def plainly(pairs: list[int]) -> Valley | None:
    """Every run of equal bars, looked at one by one."""
    best = None
    for first in range(6, 19):
        for last in range(first, 19):
            here = set(pairs[first : last + 1])
            is_longest = (first == 6 or pairs[first - 1] not in here) and (
                last == 18 or pairs[last + 1] not in here
            )
            below, above = max(pairs[:first]), max(pairs[last + 1 :])
            if len(here) > 1 or not is_longest or not below or not above:
                continue
            if below < 2 * pairs[first] or above < 2 * pairs[first]:
                continue
            rank = (-pairs[first], last - first, first)
            if best is None or rank > best[0]:
                best = rank, first, last
    if best is None:
        return None
    _, first, last = best
    return Valley(
        threshold=round((first + last + 1) / 2 / BARS, 3),
        low=first / BARS,
        high=(last + 1) / BARS,
        pairs=pairs[first],
        below=max(pairs[:first]),
        above=max(pairs[last + 1 :]),
    )


def test_any_histogram() -> None:
    found = []

    @given(st.lists(st.integers(0, 6), min_size=BARS, max_size=BARS))
    def check(pairs: list[int]) -> None:
        found.append(find_valley(pairs, MANY))
        assert found[-1] == plainly(pairs)

    check()
    assert sum(valley is not None for valley in found) >= 10, "too few valleys"
