"""Ways to rearrange the rows of a characteristic matrix: hash functions, and permutations."""

import random
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from nearly.errors import SettingsError

__all__ = [
    "Rearranged",
    "drawn_functions",
    "drawn_permutations",
    "function_of",
    "permutation_of",
]

_FORMULA = re.compile(r"\(?(\d*)\*?x(?:\+(\d+))?\)?(?:mod|%)(\d+)")


@dataclass(frozen=True)
class Rearranged:
    """What a row becomes, by its number from 0, and how that is written."""

    name: str
    value: Callable[[int], int]


def function_of(formula: str) -> Rearranged:
    """A hash function as the sources write them: '(3x+1) mod 5', 'x+1 mod 5'."""
    found = _FORMULA.fullmatch(formula.replace(" ", "").lower())
    if found is None or int(found[3]) == 0:
        raise SettingsError(f"{formula!r} is no hash function; write it like '(3x+1) mod 5'")
    return _linear(int(found[1] or 1), int(found[2] or 0), int(found[3]))


def _linear(factor: int, term: int, modulus: int) -> Rearranged:
    name = f"({factor if factor != 1 else ''}x+{term}) mod {modulus}"
    return Rearranged(name, lambda row: (factor * row + term) % modulus)


def permutation_of(given: Sequence[Hashable], universe: Sequence[Hashable]) -> Rearranged:
    """The new place of each row from 1 on (kth), or the elements in a new order (azgomi, upc).

    Where the elements are these very numbers, they are places.
    """
    texts = [str(each) for each in given]
    if sorted(texts) == sorted(str(place) for place in range(1, len(universe) + 1)):
        places = [int(text) for text in texts]
    else:
        place = {text: i for i, text in enumerate(texts, start=1)}
        places = [place.get(str(element), 0) for element in universe]
    if sorted(places) != list(range(1, len(universe) + 1)):
        raise SettingsError(
            f"{' '.join(map(str, given))!r} is no permutation of the {len(universe)} shingles; "
            f"give all of them in a new order, or a place from 1 to {len(universe)} for each"
        )
    return Rearranged(" ".join(map(str, given)), places.__getitem__)


def drawn_functions(count: int, rows: int, seed: int) -> list[Rearranged]:
    """(ax+b) mod p, where p is the first prime that is no less than the number of rows.

    A prime makes every function a true permutation (manfredi 2.5).
    """
    prime = next(p for p in range(max(2, rows), 2 * rows + 3) if _is_prime(p))
    chosen = random.Random(seed)  # noqa: S311 - for a lesson
    return [
        _linear(chosen.randrange(1, prime), chosen.randrange(prime), prime) for _ in range(count)
    ]


def drawn_permutations(count: int, universe: Sequence[Hashable], seed: int) -> list[Rearranged]:
    """Every order of the rows is as likely as any other."""
    chosen = random.Random(seed)  # noqa: S311 - for a lesson
    places = range(1, len(universe) + 1)
    return [permutation_of(chosen.sample(places, len(places)), universe) for _ in range(count)]


def _is_prime(number: int) -> bool:
    return all(number % divisor for divisor in range(2, int(number**0.5) + 1))
