"""Which way to take to all pairs: the exact join, or hashing.

The exact join misses nothing, and its cost grows with how many documents share a rare shingle;
hashing costs about the same for every document. docs/methods.md has the measurements behind the
numbers here.
"""

from dataclasses import dataclass

from nearly.settings import Method, Settings

__all__ = ["Choice", "choose_method"]

#: A join lists all pairs of a cluster: more documents than this could be one cluster.
MOST_DOCUMENTS = 5_000


@dataclass(frozen=True)
class Choice:
    """A method, and the reason in words."""

    method: Method
    why: str


def choose_method(
    settings: Settings, documents: int, text: int, most_to_join: int, *, clusters_only: bool
) -> Choice:
    """What 'auto' comes to for a corpus of this size.

    `text` is its bytes, and `most_to_join` as many as are joined about as fast as hashed.

    Where only clusters are asked for, hashing compares a bucket with its hubs and stays linear.
    """
    if settings.method != "auto":
        return Choice(settings.method, "as asked")
    if settings.bands is not None:
        return Choice("lsh", "bands and rows were given")
    if text > most_to_join:
        return Choice("lsh", f"hashing is cheaper for more than {most_to_join >> 20} MiB of text")
    if clusters_only and documents > MOST_DOCUMENTS:
        return Choice("lsh", "clusters do not need all pairs")
    return Choice("exact", "the corpus is small")
