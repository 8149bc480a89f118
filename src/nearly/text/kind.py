"""What kind of difference there is between two texts: case, space, digits, words and so on.

The kinds are ordered. Two texts have the first kind under which they are the same, and each kind
up to `digits` also ignores what the kinds before it ignore. So `digits` says that nothing but
digits differs, apart from case, space and punctuation; `order` that both have the same words and
numbers; and `words` is everything else. What stands inside a number (the point of 1.5, the space of
1 000) is part of the number.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal, get_args

from nearly.text.composition import composed

__all__ = ["KINDS", "Kind", "fingerprint", "kind_of", "kind_of_fingerprints"]

Kind = Literal["same text", "case", "space", "punctuation", "digits", "order", "words"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

_OUTER_SPACE = re.compile(r"(?<!\d)\s+|\s+(?!\d)")
_OUTER_MARKS = re.compile(r"(?<!\d)[^\w\s]+(?!\d)|(?<=\d)[^\w\s]+(?!\d)|(?<!\d)[^\w\s+.,-]+(?=\d)")
_NUMBER = re.compile(r"[-+.,]*\d(?:[\W_]*\d)*")
_WORD = re.compile(_NUMBER.pattern + r"|\w+")


def _without_case(text: str) -> str:
    return composed(composed(text).casefold())


def _without_space(text: str) -> str:
    return _OUTER_SPACE.sub("", _without_case(text).strip())


def _without_marks(text: str) -> str:
    return _OUTER_MARKS.sub("", _without_space(text))


def _without_digits(text: str) -> str:
    return _OUTER_MARKS.sub("", _NUMBER.sub("", _without_space(text)))


def _without_order(text: str) -> str:
    return " ".join(sorted(_WORD.findall(_without_case(text))))


#: What is left of a text when a kind of difference is ignored; `words` ignores everything.
_RULES: Final[Sequence[Callable[[str], str]]] = (
    composed,
    _without_case,
    _without_space,
    _without_marks,
    _without_digits,
    _without_order,
)


def kind_of(a: str, b: str) -> Kind:
    """The kind of difference between two texts."""
    for kind, rule in zip(KINDS, _RULES, strict=False):
        if rule(a) == rule(b):
            return kind
    return "words"


def fingerprint(text: str) -> bytes:
    """Enough to tell the kind of difference to any other text, in 96 bytes."""
    import hashlib

    return b"".join(
        hashlib.blake2b(rule(text).encode(errors="surrogatepass"), digest_size=16).digest()
        for rule in _RULES
    )


def kind_of_fingerprints(a: bytes, b: bytes) -> Kind:
    """The same as `kind_of` on the texts."""
    for i, kind in enumerate(KINDS[:-1]):
        if a[16 * i : 16 * i + 16] == b[16 * i : 16 * i + 16]:
            return kind
    return "words"
