"""Exact join or hashing: which is the cheaper way to all pairs, and why.

The exact join misses nothing, and its cost grows with how many documents share a rare shingle;
hashing costs about the same for every document. docs/methods.md has the measurements behind the
numbers here.
"""

from dataclasses import dataclass

from nearly.settings import Method, Settings

__all__ = ["Choice", "choose_method", "most_text_to_join"]

#: So few documents are joined in less time than anyone notices.
SMALL = 5_000
#: Runs of words are rare: the join wins by far. Bytes of text up to which it was measured to.
MOST_TEXT_BY_WORDS = 2**30
#: Runs of characters are shared by strangers: hashing wins from here on.
MOST_TEXT_BY_CHARACTERS = 2**21
#: Below this threshold prefixes are long, and strangers meet in them.
LEAST_THRESHOLD = 0.5
#: Fewer words in a shingle are as common as characters.
FEWEST_WORDS = 3


@dataclass(frozen=True)
class Choice:
    """A method, and the reason in words."""

    method: Method
    why: str


def most_text_to_join(settings: Settings) -> int:
    """Bytes of text up to which the join is the cheaper way to all pairs."""
    text = settings.text
    few_words = text.k != "auto" and text.k < FEWEST_WORDS
    if text.unit == "word" and not few_words and settings.threshold >= LEAST_THRESHOLD:
        return MOST_TEXT_BY_WORDS
    return MOST_TEXT_BY_CHARACTERS


def choose_method(settings: Settings, documents: int, text: int, *, clusters_only: bool) -> Choice:
    """What 'auto' comes to for a corpus of this size; text in bytes.

    Where only clusters are asked for, hashing compares a bucket with its hubs, and the join would
    spell out all pairs of every cluster: it is for small corpora only.
    """
    if settings.method != "auto":
        return Choice(settings.method, "as asked")
    if settings.bands is not None:
        return Choice("lsh", "bands and rows were given")
    if documents <= SMALL:
        return Choice("exact", "the corpus is small")
    if clusters_only:
        return Choice("lsh", "clusters do not need all pairs")
    if text <= most_text_to_join(settings):
        return Choice("exact", f"joining is cheaper for so much text by {settings.text.unit}s")
    return Choice("lsh", f"hashing is cheaper for so much text by {settings.text.unit}s")
