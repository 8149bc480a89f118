"""What a corpus decides: how long its shingles are, and which way to take to all pairs.

The exact join misses nothing, and its cost grows with how many documents share a rare shingle;
hashing costs about the same for every document. docs/methods.md has the measurements behind the
numbers here.
"""

from dataclasses import dataclass

from nearly.settings import Method, Settings

__all__ = ["Choice", "auto_k", "choose_method", "most_text_to_join"]

#: Bytes of text that are joined in a few hundredths of a second, as fast as they are hashed or
#: nearly so. Runs of characters are shared by more strangers than runs of words.
MOST_TEXT = {"char": 2**21, "word": 2**22}
#: A join spells out all pairs of a cluster: more documents than this could be one cluster.
MOST_DOCUMENTS = 5_000
#: From this many characters on a document is no longer a message but an article.
LONG = 2_000


@dataclass(frozen=True)
class Choice:
    """A method, and the reason in words."""

    method: Method
    why: str


def auto_k(unit: str, mean_length: float) -> int:
    """5 characters for short documents, 9 for long ones (kth, on k-shingles); 3 or 5 words."""
    is_long = mean_length >= LONG
    return (9 if is_long else 5) if unit == "char" else (5 if is_long else 3)


def most_text_to_join(settings: Settings) -> int:
    """Bytes of text up to which joining is worth it."""
    return MOST_TEXT[settings.text.unit]


def choose_method(settings: Settings, documents: int, text: int, *, clusters_only: bool) -> Choice:
    """What 'auto' comes to for a corpus of this size; text in bytes.

    Where only clusters are asked for, hashing compares a bucket with its hubs and stays linear.
    """
    if settings.method != "auto":
        return Choice(settings.method, "as asked")
    if settings.bands is not None:
        return Choice("lsh", "bands and rows were given")
    if text > most_text_to_join(settings):
        return Choice("lsh", f"hashing is cheaper for so much text by {settings.text.unit}s")
    if clusters_only and documents > MOST_DOCUMENTS:
        return Choice("lsh", "clusters do not need all pairs")
    return Choice("exact", "the corpus is small")
