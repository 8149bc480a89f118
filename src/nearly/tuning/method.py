"""Which way to take to all pairs: the exact join, or hashing.

The exact join misses nothing, and its cost grows with how many documents share a rare shingle;
hashing costs about the same for every document, unless a text that many have in common draws them
into one bucket. What buckets hold is counted once documents are signed, and before they are
compared: then a method that was chosen by size may be changed. Only counts decide, never the clock,
so that every engine and machine decides alike. docs/methods.md has the measurements behind the
numbers here.
"""

from dataclasses import dataclass

from nearly.settings import Method, Settings

__all__ = ["Choice", "Rehearsal", "choose_method", "count_rehearsed", "is_crowded", "reconsider"]

#: A join lists all pairs of a cluster: more documents than this could be one cluster.
MOST_DOCUMENTS = 5_000

#: Meetings per document up to which hashing is not called into question.
USUAL_MEETINGS = 256

#: Documents and bytes of text that are tried with both methods.
MOST_REHEARSED, MOST_TEXT_REHEARSED = 2_000, 2**24

# What work costs, in looks at the sketches of two documents (some 25 nanoseconds).
LOOK_OF_A_JOIN = 2
BYTES_VERIFIED_IN_A_LOOK = 16
BYTES_JOINED_IN_A_LOOK = 2
#: Bytes of text that are joined at once where memory is short, or tasks are many.
TEXT_AT_ONCE = 2**25


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


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """What both methods had to do with some documents."""

    documents: int
    candidates: int  # pairs that hashing verified
    joined: int  # pairs that the join looked at
    join_verified: int  # of these, pairs that it verified


def is_crowded(choice: Choice, settings: Settings, documents: int, meetings: int) -> bool:
    """Whether hashing, chosen by size alone, would compare far more than is usual."""
    is_open = settings.method == "auto" and settings.bands is None
    return is_open and choice.method == "lsh" and meetings > USUAL_MEETINGS * documents


def count_rehearsed(documents: int, text: int) -> int:
    """How many documents are tried with both methods, of a corpus with `text` bytes in all."""
    return min(MOST_REHEARSED, documents, max(2, MOST_TEXT_REHEARSED * documents // max(1, text)))


def reconsider(
    choice: Choice, documents: int, text: int, meetings: int, rehearsal: Rehearsal
) -> Choice:
    """The join where it costs less than hashing, by what both did with some of the documents.

    Pairs grow with the square of documents; `meetings` is the number of all.
    """
    pairs = documents * (documents - 1) / (rehearsal.documents * (rehearsal.documents - 1))
    verifying = max(1, text / max(1, documents) / BYTES_VERIFIED_IN_A_LOOK)
    hashing = meetings + pairs * rehearsal.candidates * verifying
    rounds = 1 + text // TEXT_AT_ONCE
    joining = (
        pairs * (rehearsal.joined * LOOK_OF_A_JOIN + rehearsal.join_verified * verifying)
        + rounds * text / BYTES_JOINED_IN_A_LOOK
    )
    if joining >= hashing:
        return choice
    return Choice("exact", f"hashing would compare {meetings:,} pairs")
