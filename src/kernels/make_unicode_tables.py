"""Writes unicode_tables.hpp: what the text kernels know of Unicode.

Run by hand, with a Python whose unicodedata is the version below. The version is fixed
so that a text has the same shingles on every machine and under every Python.

    python src/kernels/make_unicode_tables.py
"""

import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

from nearly.textbook import WHITE_SPACE
from nearly.textbook.normalisation import SCRIPTS_WITHOUT_SPACES

VERSION = "14.0.0"
BLOCK = 128
NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[NormalForm, ...] = get_args(NormalForm)
CODE_POINTS = range(sys.maxunicode + 1)
SURROGATES = range(0xD800, 0xE000)

#: Each is one bit of a code point's traits, in this order.
TRAITS = (
    "letter",
    "mark",
    "digit",
    "number",
    "punctuation",
    "space",
    "stands_alone",
    "unassigned",
    "folds",
    "has_accent",
    *(f"unsettled_{form.lower()}" for form in FORMS),
    "reorders",
)

HEADER = """\
// Unicode {version} as two-stage tables. Written by make_unicode_tables.py; do not edit.
//
// The entry of a code point c is blocks[index[c / {block}] * {block} + c % {block}]. Entries of
// `traits` are sets of bits. Entries of `fold` and `bare` are zero for a code point that
// maps to itself, and otherwise a place in `sequences`: a length, and that many code points.
#pragma once
#include <cstdint>

namespace nearly::unicode {{

inline constexpr char version[] = "{version}";
inline constexpr std::uint32_t block_size = {block};

"""


def main() -> None:
    if unicodedata.unidata_version != VERSION:
        raise SystemExit(
            f"this Python has Unicode {unicodedata.unidata_version}; the tables are of Unicode "
            f"{VERSION}: run a Python that has it, such as 3.11"
        )
    sequences = [0]
    fold = [place(sequences, c, str.casefold(chr(c))) for c in CODE_POINTS]
    bare = [place(sequences, c, without_accents(chr(c))) for c in CODE_POINTS]
    parts = [HEADER.format(version=VERSION, block=BLOCK)]
    parts += [
        f"inline constexpr std::uint16_t {name} = 1u << {bit};\n" for bit, name in enumerate(TRAITS)
    ]
    parts += [two_stage("traits", traits(fold, bare)), two_stage("fold", fold)]
    parts += [two_stage("bare", bare), array("sequences", "std::uint32_t", sequences)]
    parts.append("\n}  // namespace nearly::unicode\n")
    Path(__file__).with_name("unicode_tables.hpp").write_text("".join(parts), encoding="utf-8")


def place(sequences: list[int], c: int, mapped: str) -> int:
    """Where `sequences` holds what `c` maps to."""
    if mapped == chr(c):
        return 0
    sequences.extend([len(mapped), *map(ord, mapped)])
    return len(sequences) - len(mapped) - 1


def without_accents(c: str) -> str:
    """The canonical decomposition without its accents, or `c` itself if it has none."""
    decomposed = unicodedata.normalize("NFD", c)
    bare = [part for part in decomposed if not is_accent(part)]
    return c if len(bare) == len(decomposed) else "".join(bare)


def is_accent(c: str) -> bool:
    return unicodedata.category(c) == "Mn" and unicodedata.combining(c) not in (0, 7, 8, 9)


def traits(fold: Sequence[int], bare: Sequence[int]) -> list[int]:
    """The bits of every code point."""
    alone = set(chain.from_iterable(range(a, b + 1) for a, b in SCRIPTS_WITHOUT_SPACES))
    composing = seconds_of_compositions()
    has: dict[str, Callable[[int], bool]] = {
        "letter": lambda c: category(c)[0] == "L",
        "mark": lambda c: category(c)[0] == "M",
        "digit": lambda c: category(c) == "Nd",
        "number": lambda c: category(c) in ("Nl", "No"),
        "punctuation": lambda c: category(c)[0] in "PS",
        "space": lambda c: chr(c) in WHITE_SPACE,
        "stands_alone": lambda c: c in alone,
        "unassigned": lambda c: category(c) == "Cn",
        "folds": lambda c: fold[c] != 0,
        "has_accent": lambda c: bare[c] != 0,
    }
    for form in FORMS:
        has[f"unsettled_{form.lower()}"] = partial(is_unsettled, form=form, composing=composing)
    has["reorders"] = reorders
    return [sum(has[name](c) << bit for bit, name in enumerate(TRAITS)) for c in CODE_POINTS]


def category(c: int) -> str:
    return unicodedata.category(chr(c))


def is_unsettled(c: int, form: NormalForm, composing: set[int]) -> bool:
    """Whether a text with `c` in it may be out of that form: if no code point is, it is in."""
    if c in SURROGATES:
        return False
    return (
        unicodedata.combining(chr(c)) != 0
        or unicodedata.normalize(form, chr(c)) != chr(c)
        or (form in ("NFC", "NFKC") and c in composing)
    )


def reorders(c: int) -> bool:
    """Whether a normal form may move what `c` becomes past what is before it."""
    if c in SURROGATES:
        return False
    return any(
        unicodedata.combining(unicodedata.normalize(form, chr(c))[0]) != 0
        for form in ("NFD", "NFKD")
    )


def seconds_of_compositions() -> set[int]:
    """Code points that a composed form may join to the one before."""
    hangul_vowels_and_finals = {*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)}
    decompositions = (unicodedata.decomposition(chr(c)).split() for c in CODE_POINTS)
    pairs = (parts for parts in decompositions if len(parts) == 2 and "<" not in parts[0])
    return hangul_vowels_and_finals | {int(second, 16) for _, second in pairs}


def two_stage(name: str, entries: Sequence[int]) -> str:
    """The entries as an index of blocks, each different block once."""
    places: dict[tuple[int, ...], int] = {}
    starts = range(0, len(entries), BLOCK)
    index = [places.setdefault(tuple(entries[at : at + BLOCK]), len(places)) for at in starts]
    return array(f"{name}_index", "std::uint8_t", index) + array(
        f"{name}_blocks", "std::uint16_t", chain.from_iterable(places)
    )


def array(name: str, kind: str, numbers: Iterable[int]) -> str:
    """A C++ array, in lines of at most a hundred characters."""
    lines = [""]
    for number in numbers:
        word = f"{number},"
        if len(lines[-1]) + len(word) > 96:
            lines.append("")
        lines[-1] += word
    body = "\n    ".join(lines)
    return f"\ninline constexpr {kind} {name}[] = {{\n    {body}\n}};\n"


if __name__ == "__main__":
    main()
