"""Places drawn by lot: those that `numpy.random.default_rng(seed).choice` draws.

NumPy's generators take 14 ms to import, a twentieth of a short command; and their streams may
change with its version, while what is drawn here decides the method of a run.
"""

from collections.abc import Callable, Iterator
from typing import Final

__all__ = ["drawn"]

_32: Final = (1 << 32) - 1
_64: Final = (1 << 64) - 1
_128: Final = (1 << 128) - 1
#: Of more than so many, a list is shuffled if more than one in so many is drawn.
_LARGE: Final = 10_000
_MANY: Final = 50

#: Of PCG64, and of what makes its state of a seed (O'Neill 2014 and 2015).
_MULTIPLIER: Final = 0x2360ED051FC65DA44385DF649FCCF645
_POOL: Final = 4


def drawn(everyone: int, count: int, seed: int) -> list[int]:
    """So many different places of all, which are less than 2^32, in ascending order."""
    stream = _numbers(seed)
    if everyone > _LARGE and count > everyone // _MANY:
        return sorted(_shuffled(everyone, count, stream))
    chosen: set[int] = set()
    for last in range(everyone - count, everyone):  # Floyd's way
        place = _below(last, stream)
        chosen.add(last if place in chosen else place)
    return sorted(chosen)


def _shuffled(everyone: int, count: int, stream: Iterator[int]) -> Iterator[int]:
    """The end of a shuffled list, of which only what was moved is written down."""
    moved: dict[int, int] = {}
    for last in range(everyone - 1, max(everyone - count, 1) - 1, -1):
        place = _below(last, stream)
        yield moved.get(place, place)
        moved[place] = moved.get(last, last)
    if count == everyone:
        yield moved.get(0, 0)


def _below(greatest: int, stream: Iterator[int]) -> int:
    """A number up to this one, each as likely (Lemire 2019)."""
    if greatest == 0:
        return 0
    product = next(stream) * (greatest + 1)
    if product & _32 <= greatest:
        least = (_32 - greatest) % (greatest + 1)
        while product & _32 < least:
            product = next(stream) * (greatest + 1)
    return product >> 32


def _numbers(seed: int) -> Iterator[int]:
    """Numbers of 32 bits: the halves of those of PCG64, the lower one first."""
    words = _state(seed)
    start, step = words[0] << 64 | words[1], (words[2] << 64 | words[3]) << 1 & _128 | 1
    state = ((step + start) * _MULTIPLIER + step) & _128
    while True:
        state = (state * _MULTIPLIER + step) & _128
        folded, turn = (state >> 64 ^ state) & _64, state >> 122
        number = (folded >> turn | folded << (64 - turn)) & _64
        yield number & _32
        yield number >> 32


def _state(seed: int) -> list[int]:
    """Four numbers of 64 bits, as NumPy's `SeedSequence` makes them of a seed."""
    hashed = _hashes(0x43B0D7E5, 0x931E8875)
    entropy = [seed >> shift & _32 for shift in range(0, max(seed.bit_length(), 1), 32)]
    pool = [hashed(word) for word in (entropy + [0] * _POOL)[:_POOL]]
    for source in range(_POOL):
        for place in range(_POOL):
            if place != source:
                pool[place] = _mixed(pool[place], hashed(pool[source]))
    for word in entropy[_POOL:]:
        for place in range(_POOL):
            pool[place] = _mixed(pool[place], hashed(word))
    hashed = _hashes(0x8B51F9DD, 0x58F38DED)
    halves = [hashed(pool[i % _POOL]) for i in range(8)]
    return [low | high << 32 for low, high in zip(halves[::2], halves[1::2], strict=True)]


def _hashes(constant: int, factor: int) -> Callable[[int], int]:
    def hashed(value: int) -> int:
        nonlocal constant
        value ^= constant
        constant = constant * factor & _32
        value = value * constant & _32
        return value ^ value >> 16

    return hashed


def _mixed(x: int, y: int) -> int:
    mixed = (0xCA01F9DD * x - 0x4973F715 * y) & _32
    return mixed ^ mixed >> 16
