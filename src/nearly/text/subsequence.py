"""The longest common subsequence of two short texts: what stays where the fewest are edited."""

from collections.abc import Iterator, Sequence

__all__ = ["common_places"]


def common_places(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where each of its members stands in both, in ascending order."""
    start = _same(a, b)
    stop = _same(a[start:][::-1], b[start:][::-1])
    yield from ((place, place) for place in range(start))
    inner_a, inner_b = a[start : len(a) - stop], b[start : len(b) - stop]
    yield from ((start + i, start + j) for i, j in _common(inner_a, inner_b))
    yield from ((len(a) - place, len(b) - place) for place in range(stop, 0, -1))


def _same(a: Sequence[str], b: Sequence[str]) -> int:
    """How many members are the same from the beginning on."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((place for place, (x, y) in pairs if x != y), min(len(a), len(b)))


def _common(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int]]:
    """By the table of how long it is from each place on."""
    longest = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in reversed(range(len(a))):
        row, below = longest[i], longest[i + 1]
        for j in reversed(range(len(b))):
            row[j] = below[j + 1] + 1 if a[i] == b[j] else max(below[j], row[j + 1])
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
