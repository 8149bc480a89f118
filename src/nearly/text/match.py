"""What two texts share, as passages that stand in both, and what differs in and between them.

Words count as the same without their case. Passages in the same order come from the alignment that
differences are made of; what stands elsewhere in the other text is looked for in what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from nearly.text.composition import composed
from nearly.text.difference import places_of, runs_of, tokens_of

__all__ = ["Matched", "Piece", "match"]

#: Fewer words in a row may be the same by chance.
LEAST: Final = 4
#: What stands elsewhere has to be longer to be told from chance.
LEAST_MOVED: Final = 8
#: As many words may differ between two runs of one passage: fewer than can have been moved there.
GAP: Final = LEAST_MOVED - 1
#: Of words that repeat, so many places are tried.
MOST_TRIED: Final = 16


class Block(NamedTuple):
    """Words that are the same in both texts: where they begin, and how many they are."""

    a: int
    b: int
    size: int


class Piece(NamedTuple):
    """Characters of one text; pieces follow each other and cover it."""

    start: int
    stop: int
    passage: int | None  # its number, if it is part of one
    is_same: bool  # whether it stands in the other text too
    is_template: bool = False  # whether many documents have it


@dataclass(frozen=True)
class Matched:
    """Both texts in pieces; passages are numbered from 0 in the order of the first text."""

    passages: int
    a: tuple[Piece, ...]
    b: tuple[Piece, ...]


def match(a: str, b: str) -> Matched:
    """Find the passages that two texts share."""
    tokens_a, tokens_b = tokens_of(a), tokens_of(b)
    keys_a, keys_b = _keys(tokens_a), _keys(tokens_b)
    runs = runs_of(keys_a, keys_b)
    blocks = [Block(i, k, j - i) for kind, i, j, k, _ in runs if kind == "equal"]
    chains = _chains(blocks, keys_a, keys_b)
    chains += [[block] for block in _moved(chains, keys_a, keys_b)]
    chains.sort(key=lambda chain: chain[0].a)
    return Matched(
        len(chains),
        tuple(_pieces(places_of(tokens_a), _sides(chains, 0), _same(blocks, chains, 0))),
        tuple(_pieces(places_of(tokens_b), _sides(chains, 1), _same(blocks, chains, 1))),
    )


def _keys(tokens: Sequence[str]) -> list[str]:
    return [composed(token.strip().casefold()) for token in tokens]


def _words(keys: Sequence[str]) -> int:
    return sum(any(map(str.isalnum, key)) for key in keys)


def _chains(blocks: Sequence[Block], a: Sequence[str], b: Sequence[str]) -> list[list[Block]]:
    """Long runs, those together that have little between them."""
    least = max(1, min(LEAST, _words(a), _words(b)))
    found: list[list[Block]] = []
    for block in blocks:
        if _words(a[block.a : block.a + block.size]) < least:
            continue
        last = found[-1][-1] if found else None
        if last is not None and max(_after(last, block)) <= GAP:
            found[-1].append(block)
        else:
            found.append([_from_word(block, a)])
    return found


def _from_word(block: Block, a: Sequence[str]) -> Block:
    """Without the marks before its first word, which end what stands before it."""
    marks = 0
    while marks < block.size and not _words(a[block.a + marks : block.a + marks + 1]):
        marks += 1
    return Block(block.a + marks, block.b + marks, block.size - marks)


def _after(last: Block, block: Block) -> tuple[int, int]:
    """Tokens between two blocks, in both texts."""
    return block.a - last.a - last.size, block.b - last.b - last.size


def _moved(
    chains: Sequence[Sequence[Block]], a: Sequence[str], b: Sequence[str]
) -> Iterator[Block]:
    """Runs of what is in no chain, from the left, each as long as it can be."""
    is_taken_a, is_taken_b = _taken(chains, 0, len(a)), _taken(chains, 1, len(b))
    places: dict[tuple[str, ...], list[int]] = {}
    for start in range(len(b) - LEAST_MOVED + 1):
        if not any(is_taken_b[start : start + LEAST_MOVED]):
            places.setdefault(tuple(b[start : start + LEAST_MOVED]), []).append(start)
    start = 0
    while start <= len(a) - LEAST_MOVED:
        tried = places.get(tuple(a[start : start + LEAST_MOVED]), [])[:MOST_TRIED]
        sizes = [_length(a, start, is_taken_a, b, place, is_taken_b) for place in tried]
        best = max(sizes, default=0)
        if best >= LEAST_MOVED and _words(a[start : start + best]) >= LEAST:
            place = tried[sizes.index(best)]
            is_taken_b[place : place + best] = [True] * best
            yield Block(start, place, best)
        start += max(best, 1)


def _length(
    a: Sequence[str], i: int, taken_a: list[bool], b: Sequence[str], j: int, taken_b: list[bool]
) -> int:
    """How far both go on alike, over what is still free."""
    size = 0
    while (
        i + size < len(a)
        and j + size < len(b)
        and a[i + size] == b[j + size]
        and not (taken_a[i + size] or taken_b[j + size])
    ):
        size += 1
    return size


def _taken(chains: Sequence[Sequence[Block]], side: int, length: int) -> list[bool]:
    """Which tokens of a side lie in a chain, or between its runs."""
    taken = [False] * length
    for low, high in _sides(chains, side):
        taken[low:high] = [True] * (high - low)
    return taken


def _sides(chains: Sequence[Sequence[Block]], side: int) -> list[tuple[int, int]]:
    """From where to where each chain reaches in a text."""
    return [(chain[0][side], chain[-1][side] + chain[-1].size) for chain in chains]


def _same(
    blocks: Sequence[Block], chains: Sequence[Sequence[Block]], side: int
) -> list[tuple[int, int]]:
    """The runs of a text that stand in the other one."""
    moved = [block for chain in chains for block in chain]
    return sorted({(b[side], b[side] + b.size) for b in (*blocks, *moved)})


def _pieces(
    places: Sequence[int], passages: Sequence[tuple[int, int]], same: Sequence[tuple[int, int]]
) -> Iterator[Piece]:
    """Cut where a passage or a run of same words begins or ends."""
    length = len(places) - 1
    numbers: list[int | None] = [None] * length
    for number, (low, high) in enumerate(passages):
        numbers[low:high] = [number] * (high - low)
    is_same = [False] * length
    for low, high in same:
        is_same[low:high] = [True] * (high - low)
    start = 0
    for place in range(1, length + 1):
        here = (numbers[start], is_same[start])
        if place == length or (numbers[place], is_same[place]) != here:
            yield Piece(places[start], places[place], *here)
            start = place
