"""Normalisation, said plainly: the text that shingles are cut from.

The kernel has to give exactly what is said here.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import zip_longest
from typing import Literal

from nearly.settings import TextSettings
from nearly.textbook.paper import WHITE_SPACE

__all__ = ["SCRIPTS_WITHOUT_SPACES", "normalise"]


#: Letters of the scripts that put no space between words, first and last code point.
#: Their digits and punctuation are left out: a number is one word in Thai too.
SCRIPTS_WITHOUT_SPACES = (
    (0x0E01, 0x0E30),  # Thai
    (0x0E32, 0x0E33),
    (0x0E40, 0x0E46),
    (0x2E80, 0x2EF3),  # Han: radicals
    (0x2F00, 0x2FD5),
    (0x3005, 0x3007),  # iteration mark, closing mark, zero
    (0x3021, 0x3029),
    (0x3031, 0x3035),
    (0x3038, 0x303C),
    (0x3041, 0x3096),  # Hiragana
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),  # Katakana
    (0x30FC, 0x30FF),  # with the prolonged sound mark ー
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAD9),
    (0xFF66, 0xFF9F),  # Katakana, halfwidth
    (0x16FE3, 0x16FE3),
    (0x1AFF0, 0x1AFFE),  # Kana extensions
    (0x1B000, 0x1B167),
    (0x20000, 0x3FFFD),  # Han: the planes set aside for it
)

_MENTION_SIGNS = "@#＠＃"  # noqa: RUF001
_UNDERSCORES = "_＿"  # noqa: RUF001
_SPACE_RUN = re.compile(f"[{''.join(sorted(WHITE_SPACE))}]+")
_TOKEN_AND_SPACE = re.compile("([^{0}]+)([{0}]*)".format("".join(sorted(WHITE_SPACE))))


def normalise(text: str, settings: TextSettings) -> str:
    """`text` as its shingles are cut from it.

    The steps, each on the result of the one before:

    1. the Unicode normal form;
    2. full case folding, which can undo the normal form and is not composed again;
    3. accents: a code point whose canonical decomposition has an accent becomes that
       decomposition without it; every other code point stays as it is. An accent is a
       non-spacing mark above, below or through its letter: one with a combining class
       other than 0, 7 (nukta), 8 (kana voicing) and 9 (virama);
    4. digits: decimal digits of every script are removed;
    5. punctuation and symbols, emoji among them, are removed; no space is left in their
       place. A kept mention or hashtag is its sign, a letter, number or underscore right
       after it, and all letters, marks, numbers and underscores that follow;
    6. stop words: a token goes, and the white space after it, if what remains between
       the punctuation at its ends is a stop word, whatever its case. Stop words have been
       through steps 1 to 5 as well, so that "don't" is found in a text without
       punctuation; one that is nothing but punctuation, or more than one word, is never
       found;
    7. white space.

    With words as the unit, the result is the words with one U+0020 between them, whatever
    is said of white space, and each letter of a script without spaces, with the marks on
    it, is a word of its own, for stop words too.
    """
    if settings.raw:
        return text
    text = _cleaned(text, settings)
    stop_words = {
        _stop_key(_spaced(_cleaned(word, settings), "collapse"), settings)
        for word in settings.stop_words
    } - {""}
    if settings.unit == "word":
        words = _words(text)
        return " ".join(word for word in words if _stop_key(word, settings) not in stop_words)
    text = _TOKEN_AND_SPACE.sub(
        lambda found: "" if _stop_key(found[1], settings) in stop_words else found[0], text
    )
    return _spaced(text, settings.space)


def _cleaned(text: str, settings: TextSettings) -> str:
    """Steps 1 to 5: all that looks at code points and not at words."""
    if settings.form != "none":
        text = unicodedata.normalize(settings.form, text)
    if settings.case == "fold":
        text = text.casefold()
    if settings.accents == "drop":
        text = "".join(_without_accents(c) for c in text)
    if settings.digits == "drop":
        text = "".join(c for c in text if unicodedata.category(c) != "Nd")
    if settings.punctuation == "drop":
        text = "".join(_without_punctuation(text, settings.mentions))
    return text


def _without_accents(c: str) -> str:
    decomposed = unicodedata.normalize("NFD", c)
    bare = "".join(part for part in decomposed if not _is_accent(part))
    return c if bare == decomposed else bare


def _is_accent(c: str) -> bool:
    return unicodedata.category(c) == "Mn" and unicodedata.combining(c) not in (0, 7, 8, 9)


def _without_punctuation(text: str, mentions: Literal["keep", "drop"]) -> Iterator[str]:
    in_mention = False
    for c, following in zip_longest(text, text[1:], fillvalue=""):
        if mentions == "keep" and c in _MENTION_SIGNS:
            in_mention = _starts_name(following)
            kept = in_mention
        elif _is_punctuation(c):
            in_mention = in_mention and c in _UNDERSCORES
            kept = in_mention
        else:
            in_mention = in_mention and unicodedata.category(c)[0] in "LMN"
            kept = True
        if kept:
            yield c


def _starts_name(c: str) -> bool:
    return c != "" and (c in _UNDERSCORES or unicodedata.category(c)[0] in "LN")


def _is_punctuation(c: str) -> bool:
    return unicodedata.category(c)[0] in "PS"


def _stop_key(token: str, settings: TextSettings) -> str:
    """What a token and a stop word have in common when they are the same word."""
    while token and _is_punctuation(token[0]):
        token = token[1:]
    while token and _is_punctuation(token[-1]):
        token = token[:-1]
    return token.casefold() if settings.case == "keep" else token


def _words(text: str) -> list[str]:
    words: list[str] = []
    word_is_open = last_stands_alone = False
    for c in text:
        if c in WHITE_SPACE:
            word_is_open = last_stands_alone = False
            continue
        is_mark = unicodedata.category(c)[0] == "M"
        stands_alone = not is_mark and _is_written_without_spaces(c)
        if word_is_open and (is_mark or not (stands_alone or last_stands_alone)):
            words[-1] += c
        else:
            words.append(c)
        word_is_open = True
        last_stands_alone = stands_alone or (is_mark and last_stands_alone)
    return words


def _is_written_without_spaces(c: str) -> bool:
    return any(first <= ord(c) <= last for first, last in SCRIPTS_WITHOUT_SPACES)


def _spaced(text: str, space: Literal["keep", "collapse", "drop"]) -> str:
    if space == "keep":
        return text
    if space == "drop":
        return _SPACE_RUN.sub("", text)
    return _SPACE_RUN.sub(" ", text).strip(" ")
